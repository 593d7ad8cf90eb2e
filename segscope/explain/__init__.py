"""Why a fusion is cut as it is, what may merge, and how few kernels would do."""

from segscope.explain.blocked import Blocked, blocked
from segscope.explain.counterfactual import Counterfactual
from segscope.explain.headroom import Bound, Headroom, headroom, rules_of
from segscope.explain.history import History, Merge, history, history_tree
from segscope.explain.merge import MergeAnswer, merge
from segscope.explain.reasons import Explanation, Reason, explain
from segscope.explain.rules import Broken
from segscope.explain.verify import Answer, Question, questions, verify
from segscope.explain.work import Rules

__all__ = [
    "Answer",
    "Blocked",
    "Bound",
    "Broken",
    "Counterfactual",
    "Explanation",
    "Headroom",
    "History",
    "Merge",
    "MergeAnswer",
    "Question",
    "Reason",
    "Rules",
    "blocked",
    "explain",
    "headroom",
    "history",
    "history_tree",
    "merge",
    "questions",
    "rules_of",
    "verify",
]
