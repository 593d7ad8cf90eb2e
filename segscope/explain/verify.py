"""Asks the real nvFuser whether one of its schedulers takes a group as one kernel."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from segscope.capture.run import Finished, Request, execute
from segscope.checks.facts import tensors_of
from segscope.dump.trials import UNSEGMENTED, SegmenterLog
from segscope.errors import CaptureError
from segscope.explain.program import Program, RebuildError
from segscope.explain.rebuild import rebuild
from segscope.model import Refusal, SegmentedFusion
from segscope.model.base import Model

_WORKLOAD: Final = Path(__file__).parent.parent / "capture" / "workloads" / "can_schedule.py"


class Question(Model):
    """A group that one kernel may compute."""

    expr_ids: tuple[int, ...]
    """Ids of its expressions on tensors, in any order; metadata operations and casts that it repeats are among them."""
    outputs: tuple[str, ...]
    """Names of the tensors that it must write."""


class Answer(Model):
    """What nvFuser said of a group."""

    accepted: str | None
    """The scheduler that takes it, the first in nvFuser's own order; None where none does."""
    refusals: tuple[Refusal, ...]
    """Of the schedulers that were asked before, in that order, where nvFuser says why."""
    problem: str | None
    """Why there is no answer, in one line; None where there is one."""
    without: tuple[str, ...] = ()
    """Operands of a cat that were not in the question: nvFuser's Python API drops those that have no elements."""


def questions(proof: SegmentedFusion) -> dict[str, Question]:
    """Return a question for each kernel group of a proof (``Bound.proof``), by the label of the group."""
    return {
        group.label: Question(
            expr_ids=tuple(expr.id for expr in proof.exprs_of(group) if not expr.is_scalar),
            outputs=tensors_of(group.outputs),
        )
        for group in proof.kernel_groups
    }


def verify(
    fusion: SegmentedFusion,
    questions: Sequence[Question],
    *,
    toolchain: str | None = None,
    device: str = "auto",
    card: str = "h200",
    timeout: float = 600.0,
) -> tuple[Answer, ...]:
    """Ask nvFuser about each group, as a fusion of its own; no kernel is compiled or run.

    What is asked is ``Schedule::canSchedule`` (csrc/scheduler/registry.cpp), with nvFuser's options at their defaults,
    of each scheduler that its Python API names: all but communication, greedy and cutlass. The passes before
    segmentation do not run: the expressions are those of the dump. nvFuser 0.2.8 cannot be asked about most groups of
    metadata operations alone: no_op takes them for their layouts, which its Python API cannot give to an output.

    Args:
        fusion: where the groups come from; its extents must be constant.
        questions: the groups.
        toolchain: a name of ``segscope toolchain list``, or ``current``; the default toolchain if None.
        device: ``cuda``, ``null`` or ``auto``, as for ``capture_rope``.
        card: the card that the null device plays.
        timeout: seconds for all the questions; those that are not answered by then have a ``problem``.

    Raises:
        SegscopeError: the toolchain or device cannot be had, or nvFuser cannot be asked at all.
    """
    answers: dict[int, Answer] = {}
    programs: dict[int, Program] = {}
    for index, question in enumerate(questions):
        try:
            programs[index] = rebuild(fusion, question.expr_ids, question.outputs)
        except RebuildError as error:
            answers[index] = _unanswered(str(error))
    waiting = list(programs)
    left, deadline = timeout, time.monotonic() + timeout
    while waiting and left > 0:
        told, finished = _ask([programs[index] for index in waiting], toolchain, device, card, left)
        answers |= {i: _answer(one, programs[i].empty) for i, one in zip(waiting, told, strict=False)}
        waiting = waiting[len(told) :]
        if waiting and finished.end.outcome != "timed out":
            answers[waiting.pop(0)] = _unanswered(_how_it_ended(finished))
        left = deadline - time.monotonic()
    answers |= {index: _unanswered(f"not answered within {timeout:g} s") for index in waiting}
    return tuple(answers[index] for index in range(len(questions)))


def _ask(
    programs: Sequence[Program], toolchain: str | None, device: str, card: str, timeout: float
) -> tuple[list[dict[str, Any]], Finished]:
    """Ask about the programs in one child process; return the answers that it gave before it ended, and its end.

    Raises CaptureError where it ended before the first question.
    """
    with tempfile.TemporaryDirectory(prefix="segscope-") as name:
        asked, answered = Path(name) / "programs.json", Path(name) / "answers.jsonl"
        asked.write_text(json.dumps([program.model_dump(mode="json") for program in programs]), encoding="utf-8")
        request = Request("can_schedule", _WORKLOAD, {"programs": str(asked), "answers": str(answered)})
        finished = execute(request, toolchain=toolchain, device=device, card=card, timeout=timeout)
        lines = answered.read_text(encoding="utf-8").splitlines(keepends=True) if answered.exists() else []
    if not finished.record.get("phases") and finished.end.outcome != "timed out":
        message = f"can_schedule in {finished.chain.name}: {_how_it_ended(finished)}"
        raise CaptureError(message, stderr=finished.stderr)
    return [json.loads(line) for line in lines if line.endswith("\n")], finished


def _answer(told: dict[str, Any], empty: tuple[str, ...]) -> Answer:
    if "problem" in told:
        return _unanswered(told["problem"])
    refusals = tuple(found for scheduler, text in told["said"] for found in _refusals(scheduler, text))
    return Answer(accepted=told["accepted"], refusals=refusals, problem=None, without=empty)


def _refusals(scheduler: str, text: str) -> list[Refusal]:
    """Read what a scheduler said, in the words of the segmenter's log; it may quote another one."""
    log = SegmenterLog()
    log.take([UNSEGMENTED, *text.splitlines()], 0, 1)
    assert log.whole is not None
    return [refusal for refusal in log.whole.refusals if refusal.scheduler == scheduler]


def _unanswered(problem: str) -> Answer:
    return Answer(accepted=None, refusals=(), problem=problem)


def _how_it_ended(finished: Finished) -> str:
    end = finished.end
    told = f"nvFuser was ended by {end.signal}" if end.signal else None
    return ": ".join(filter(None, (told, end.message))) or "no answer, and no reason"
