"""Typed facts about segmented fusions: frozen pydantic models.

No I/O; nothing here knows how the facts were read or how they are drawn.
"""

from segscope.model.capture import Capture, ChildEnd, Damage, NvfuserError, ParseReport, Provenance
from segscope.model.expr import Expr
from segscope.model.fusion import Cut, Edge, Group, SegmentedFusion
from segscope.model.log import PassChange, PassStatement, Refusal, SegmenterLog, Trial
from segscope.model.tensor import IterDomain, Tensor
from segscope.model.traffic import Traffic
from segscope.model.transforms import IdExpr, TensorTransforms
from segscope.vocabulary import METADATA_KINDS, SCHEDULERS

__all__ = [
    "METADATA_KINDS",
    "SCHEDULERS",
    "Capture",
    "ChildEnd",
    "Cut",
    "Damage",
    "Edge",
    "Expr",
    "Group",
    "IdExpr",
    "IterDomain",
    "NvfuserError",
    "ParseReport",
    "PassChange",
    "PassStatement",
    "Provenance",
    "Refusal",
    "SegmentedFusion",
    "SegmenterLog",
    "Tensor",
    "TensorTransforms",
    "Traffic",
    "Trial",
]
