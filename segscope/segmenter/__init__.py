"""nvFuser's segmenter outside nvFuser: the merge loop, with its choices and its test of acceptance in your hands.

``simulate(fusion)`` undoes the segmentation of a dump and segments it anew; a ``Lab`` does so as often as wanted.
"""

from segscope.segmenter.loop.state import Group, SetTrial, Step
from segscope.segmenter.oracle import Accepted, Answer, Candidate, Oracle, OracleOf, Refused, Unknown
from segscope.segmenter.oracles.real import Real, real
from segscope.segmenter.oracles.recorded import Recorded
from segscope.segmenter.oracles.rules import Rules
from segscope.segmenter.policy import Policy
from segscope.segmenter.run import ORACLES, Lab, OracleName, Simulation, simulate
from segscope.segmenter.versions import Version, version, version_told_by
from segscope.segmenter.whole import Whole

__all__ = [
    "ORACLES",
    "Accepted",
    "Answer",
    "Candidate",
    "Group",
    "Lab",
    "Oracle",
    "OracleName",
    "OracleOf",
    "Policy",
    "Real",
    "Recorded",
    "Refused",
    "Rules",
    "SetTrial",
    "Simulation",
    "Step",
    "Unknown",
    "Version",
    "Whole",
    "real",
    "simulate",
    "version",
    "version_told_by",
]
