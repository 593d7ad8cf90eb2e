"""What nvFuser's schedulers take, told by rules from the dump alone."""

from segscope.segmenter.oracles.rules.oracle import Rules

__all__ = ["Rules"]
