"""The null device: a stand-in for a GPU, so that nvFuser's segmenter runs on a machine without one.

What it cannot stand in for: results (they are garbage), times (refused), graphs, several GPUs.
"""

from segscope.capture.null_device.build import null_device
from segscope.capture.null_device.cards import Card, card, cards
from segscope.capture.null_device.environment import environment
from segscope.capture.null_device.gpu_code import free_gpu_code

__all__ = ["Card", "card", "cards", "environment", "free_gpu_code", "null_device"]
