"""What nvFuser's schedulers said in the log of the same fusion."""

from __future__ import annotations

from segscope.errors import SegscopeError
from segscope.explain.tried import in_words
from segscope.model import Trial
from segscope.segmenter.oracle import Accepted, Answer, Candidate, Refused, Unknown
from segscope.segmenter.versions import Version
from segscope.segmenter.whole import Whole


class Recorded:
    """Knows the sets that nvFuser tried, and no other.

    Raises SegscopeError where the dump has no log, or where the boundary rule is to be left out.
    """

    def __init__(self, whole: Whole, version: Version, *, boundary: bool = True) -> None:
        log = whole.source.log
        if log is None:
            where = f"fusion {whole.source.index}"
            raise SegscopeError(f"{where}: no log in the dump; capture it with NVFUSER_DUMP=segmenter_logging too")
        if not boundary:
            raise SegscopeError("a log tells only of schedulers that keep the boundary rule; use the oracle rules")
        self._whole = whole
        self._exact: dict[frozenset[str], Trial] = {}
        self._folded: dict[frozenset[str], Trial] = {}
        for trial in filter(None, (log.whole, *log.trials)):
            names = frozenset(name for name in trial.outputs if name.startswith("T"))
            if trial.accepted or trial.refusals:
                self._exact.setdefault(names, trial)
                self._folded.setdefault(frozenset(map(whole.original, names)), trial)

    def answer(self, candidate: Candidate) -> Answer:
        """Look up the set; where it holds copies, one of the same expressions with other copies will do."""
        names = frozenset(self._whole.names(candidate.nodes))
        trial = self._exact.get(names) or self._folded.get(frozenset(map(self._whole.original, names)))
        if trial is None and len(candidate.nodes) == len(self._whole.exprs):
            return Refused(reason="nvFuser segmented the fusion")
        if trial is None:
            return Unknown(why="not tried in the log")
        if trial.accepted:
            return Accepted(scheduler=trial.accepted)
        return Refused(reason=in_words(trial.refusals))

    def settle(self) -> bool:
        """Return False: nothing is guessed."""
        return False
