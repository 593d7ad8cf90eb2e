"""The real nvFuser, asked about groups of real dumps."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from segscope.errors import CaptureError, SegscopeError
from segscope.explain import Answer, Question, verify
from segscope.model import Capture, Group, SegmentedFusion
from tests.explain.test_rebuild import one_group

pytestmark = pytest.mark.toolchain
JULY_2024, TODAY = "nvfuser-0.2.8", "nvfuser-0.2.36"

QUARTET = (
    ("T12 T13 T14 T15", "T15"),
    ("T32 T33 T34 T35", "T35"),
    ("T16 T17 T18 T19 T20 T21 T22 T23 T24 T25 T26 T27 T28 T29 T30 T46 T47 T48", "T48"),
    ("T19 T20 T22 T24 T25 T27 T36 T37 T38 T39 T40 T41 T42 T43 T44 T50 T51 T52", "T52"),
)
"""Four kernels that would do where nvFuser of July 2024 made six; each repeats up-casts and broadcasts."""

ALL_OF_Q = "T12 T13 T14 T15 " + QUARTET[2][0]

FOUR = one_group(
    "T1(8, 4) = expf(T0(8, 4));",
    "T2(5) = reshape( T0(8, 4) )",
    "T3(8, 4) = relu(T0(8, 4));",
    "T4(8, 4, int64_t) = argsort( T0(8, 4), dim = 1, descending = True, stable = False )",
)
"""Of T2, nvFuser says that it cannot be; T4 is not rebuilt."""


@pytest.fixture
def july_2024(fixture_capture: Callable[[str], Capture]) -> SegmentedFusion:
    return fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion


def as_segmented(fusion: SegmentedFusion, group: Group) -> Question:
    made = {name for expr in fusion.exprs_of(group) for name in expr.outputs}
    return Question(expr_ids=group.expr_ids, outputs=tuple(name for name in group.outputs if name in made))


def defining(fusion: SegmentedFusion, names: str, output: str) -> Question:
    """The expressions that define these tensors."""
    wanted = set(names.split())
    ids = tuple(expr.id for expr in fusion.exprs if wanted & {*expr.outputs})
    assert len(ids) == len(wanted)
    return Question(expr_ids=ids, outputs=(output,))


def ask(fusion: SegmentedFusion, questions: Sequence[Question], toolchain: str, **options: float) -> tuple[Answer, ...]:
    return verify(fusion, questions, toolchain=toolchain, device="null", **options)  # type: ignore[arg-type]


def test_july_2024_accepts_its_own_pointwise_groups_and_four_kernels_that_would_do(
    july_2024: SegmentedFusion, need_toolchain: Callable[[str], str]
) -> None:
    own = [as_segmented(july_2024, group) for group in july_2024.groups if group.scheduler == "pointwise"]
    four = [defining(july_2024, names, output) for names, output in QUARTET]
    answers = ask(july_2024, [*own, *four], need_toolchain(JULY_2024))
    assert [(answer.accepted, answer.problem) for answer in answers] == [("pointwise", None)] * 10
    assert [refusal.scheduler for refusal in answers[0].refusals] == [
        "expr_eval",
        "no_op",
        "matmul",
        "reduction",
        "transpose",
    ]


def test_july_2024_refuses_to_pad_a_value_that_the_kernel_computes(
    july_2024: SegmentedFusion, need_toolchain: Callable[[str], str]
) -> None:
    (answer,) = ask(july_2024, [defining(july_2024, ALL_OF_Q, "T48")], need_toolchain(JULY_2024))
    assert (answer.accepted, answer.problem) == (None, None)
    pointwise = next(refusal for refusal in answer.refusals if refusal.scheduler == "pointwise")
    assert pointwise.reason == "First input of PadOp must be fusion input."
    assert pointwise.category == "boundary"


def test_july_2024_cannot_be_asked_about_views(
    july_2024: SegmentedFusion, need_toolchain: Callable[[str], str]
) -> None:
    views, empty_view = (as_segmented(july_2024, july_2024.groups[index]) for index in (0, 3))
    answers = ask(july_2024, [views, empty_view], need_toolchain(JULY_2024))
    assert answers[0].accepted is None
    assert answers[0].problem == "this nvFuser cannot be told that an output is a view, as no_op requires"
    assert answers[1].accepted == "no_op"


@pytest.mark.parametrize(
    "name",
    [
        "Llama-2-13b-hf_bookend0_forward",
        "Llama-2-13b-hf_bookend0_forward+backward",
        "tiny-llama-1.1b_bookend0_forward+backward",
        "falcon-7b_bookend0_forward",
    ],
)
def test_today_accepts_its_own_groups_with_the_schedulers_that_the_dump_names(
    name: str, fixture_capture: Callable[[str], Capture], need_toolchain: Callable[[str], str]
) -> None:
    """Reductions, expanded and zero-strided tensors, and layouts of all kinds are among them."""
    for fusion in fixture_capture(f"h200_0.2.36_{name}").fusions:
        questions = [as_segmented(fusion, group) for group in fusion.groups]
        answers = ask(fusion, questions, need_toolchain(TODAY))
        assert [answer.problem for answer in answers] == [None] * len(answers)
        assert [answer.accepted for answer in answers] == [group.scheduler for group in fusion.groups]


def test_today_takes_all_of_q_as_one_kernel(
    fixture_capture: Callable[[str], Capture], need_toolchain: Callable[[str], str]
) -> None:
    """The same statements that July 2024 refused."""
    fusion = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusion
    wanted = " ".join(name for name in ALL_OF_Q.split() if name not in ("T46", "T47", "T48"))
    (answer,) = ask(fusion, [defining(fusion, wanted, "T30")], need_toolchain(TODAY))
    assert answer.accepted == "resize"


@pytest.mark.parametrize("toolchain", [JULY_2024, TODAY])
def test_one_bad_question_does_not_cost_the_others_their_answers(
    toolchain: str, need_toolchain: Callable[[str], str]
) -> None:
    questions = [Question(expr_ids=(number,), outputs=(f"T{number + 1}",)) for number in (3, 0, 1, 2, 0)]
    answers = ask(FOUR, questions, need_toolchain(toolchain))
    assert [answer.accepted for answer in answers] == [None, "pointwise", None, "pointwise", "pointwise"]
    problems = [answer.problem or "" for answer in answers]
    assert problems[0] == "T4: operator argsort (argsort) cannot be rebuilt"
    assert "Total element counts across view operation must match: 32 vs 5" in problems[2]
    assert [bool(problem) for problem in problems] == [True, False, True, False, False]


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let ``body`` answer about ``program`` in place of nvFuser."""

    def use(body: str) -> None:
        file = tmp_path / "workload.py"
        file.write_text(f"""
import json, os, signal
from pathlib import Path

def phases(options):
    def answer_all():
        with open(options["answers"], "w") as answers:
            for program in json.loads(Path(options["programs"]).read_text()):
                {body}
                print(json.dumps({{"accepted": "pointwise", "said": []}}), file=answers, flush=True)
    yield "questions", answer_all
""")
        monkeypatch.setattr(import_module("segscope.explain.verify"), "_WORKLOAD", file)

    return use


QUESTIONS = [Question(expr_ids=(number,), outputs=(f"T{number + 1}",)) for number in (0, 2, 0, 2)]


def test_a_crash_is_a_problem_of_one_question(
    workload: Callable[[str], None], need_toolchain: Callable[[str], str]
) -> None:
    workload("program['outputs'] == ['T3'] and os.kill(os.getpid(), signal.SIGFPE)")
    answers = ask(FOUR, QUESTIONS, need_toolchain(TODAY))
    assert [answer.accepted for answer in answers] == ["pointwise", None, "pointwise", None]
    assert [answer.problem for answer in answers[1::2]] == ["nvFuser was ended by SIGFPE"] * 2


def test_what_is_not_answered_in_time_is_a_problem(
    workload: Callable[[str], None], need_toolchain: Callable[[str], str]
) -> None:
    workload("program['outputs'] == ['T3'] and signal.pause()")
    answers = ask(FOUR, QUESTIONS, need_toolchain(TODAY), timeout=5)
    assert [answer.problem for answer in answers[1:]] == ["not answered within 5 s"] * 3


def test_a_toolchain_that_cannot_be_asked_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, need_toolchain: Callable[[str], str]
) -> None:
    file = tmp_path / "workload.py"
    file.write_text("import nvfuser_of_tomorrow")
    monkeypatch.setattr(import_module("segscope.explain.verify"), "_WORKLOAD", file)
    with pytest.raises(CaptureError, match=r"can_schedule in nvfuser-0\.2\.36: ModuleNotFoundError: No module named"):
        ask(FOUR, QUESTIONS, need_toolchain(TODAY))


def test_no_question_needs_no_toolchain() -> None:
    assert ask(FOUR, [], "nvfuser-9") == ()
    with pytest.raises(SegscopeError, match="nvfuser-9"):
        ask(FOUR, QUESTIONS, "nvfuser-9")
