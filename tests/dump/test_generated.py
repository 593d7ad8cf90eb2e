"""Generated fusions of every era are read as they were made, alone and in any company."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segscope.dump import parse
from segscope.dump.write import segments_text
from segscope.errors import SegscopeError
from segscope.model import Capture
from tests.dump.generate import NAMES, Generated, chain, generated
from tests.dump.mutate import mutated
from tests.dump.test_linear import steps

few = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
single = settings(few, max_examples=50)

NOISE = [
    "============================= test session starts ==============================",
    "tests/test_rope.py::test_rope[phi-2-cuda] PASSED                         [ 50%]",
    ".",
    "",
    "x.py:61: FutureWarning: The pynvml package is deprecated.",
    "  warnings.warn(",
    "[W722 12:34:56.123456789 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed",
    " 50%|#####     | 5/10 [00:01<00:01,  4.98it/s]",
    "Fusion before PreSegmenter:",
    "Segment the fusion (Original Fusion Un-modified): ",
    "***Runtime***: Try to schedule fus",
    "} // %kernel_math ",
    "g{",
    "}",
    "T0_g_float[iS0{1}] looks like a tensor",
    "groups:",
    "(7)",
]
INSIDE = [
    *NOISE, "Segmented_Fusion Dump: -- Re-written complete fusion:{\nInputs:\n  T0_g_float[iS0{2}]",
    "g{(resize)", "(x)", "e{", "e{ a -> b", "edges:", "T1_g_float[", "T1_g[iS0{]}", "group id: x", "inputs:",
    "i1 = ", " = ", "{{{{", "))))", "\x00\ufffd", "Segmented_Fusion Dump: -- fusion segments:", "} //Segmented_Fusion",
    "group details:", "T6_g_float[iS1{8}]\n   = slice( T5_g_float[iS1{8}] )\n(6)", "T5_l[ zS1{2} ]", "[rank0]: }", "\r",
]  # fmt: skip


def headings(text: str) -> int:
    return len(re.findall(r"g\{(?!\d)", text))


@pytest.mark.parametrize("era", NAMES)
def test_a_generated_fusion_is_read_as_it_was_made(era: str) -> None:
    @single
    @given(generated([era]))
    def check(made: Generated) -> None:
        capture = parse(made.text)
        assert capture.report.damage == ()
        assert capture.fusion == made.fusion
        assert segments_text(capture.fusion) == segments_text(made.fusion)
        assert Capture.model_validate_json(capture.model_dump_json()) == capture
        names = [expr.op for group in made.fusion.groups for expr in made.fusion.exprs_of(group)]
        assert capture.report.statements == len(names)
        unknown = {expr.id for expr in made.fusion.exprs if expr.kind == "unknown"}
        assert sum(capture.report.unknown_operators.values()) == len(unknown)
        assert capture.fusion.count() == made.fusion.count()

    check()


@few
@given(st.data())
def test_fusions_in_noise_keep_their_order_and_their_counts(data: st.DataObject) -> None:
    made = data.draw(st.lists(generated(max_groups=2), min_size=1, max_size=3))
    noise = st.lists(st.sampled_from(NOISE), max_size=4)
    text, expected = "", []
    for index, one in enumerate(made):
        text += "".join(f"{line}\n" for line in data.draw(noise))
        expected.append(one.placed(index, text.count("\n")))
        text += one.text
    text += "".join(f"{line}\n" for line in data.draw(noise))
    capture = parse(text)
    assert capture.complete
    assert list(capture.fusions) == expected
    assert [segments_text(fusion) for fusion in capture.fusions] == [segments_text(one.fusion) for one in made]
    assert capture.report.lines == text.count("\n")
    for scheduler in {group.scheduler for one in made for group in one.fusion.groups}:
        assert capture.count(scheduler) == sum(one.fusion.count(scheduler) for one in made)


@settings(few, max_examples=300)
@given(st.data())
def test_a_mutated_dump_raises_nothing_else_and_has_no_more_groups(data: st.DataObject) -> None:
    made = data.draw(st.lists(generated(max_groups=2), min_size=1, max_size=2))
    text = mutated(data, "".join(one.text for one in made), INSIDE, most=6)
    try:
        capture = parse(text)
    except SegscopeError:
        return
    assert sum(len(fusion.groups) for fusion in capture.fusions) <= headings(text)
    assert len(capture.fusions) <= text.count("fusion segments:")
    assert Capture.model_validate_json(capture.model_dump_json()) == capture
    for fusion in capture.fusions:
        assert str(fusion)
        assert segments_text(fusion)


@settings(few, max_examples=15)
@given(generated(max_groups=2))
def test_twice_the_dumps_take_at_most_twice_the_steps(made: Generated) -> None:
    parse(made.text)  # what is compiled once is not counted
    assert steps(parse, made.text * 4) <= 2 * steps(parse, made.text * 2) + 50


def test_twice_the_groups_take_at_most_twice_the_steps() -> None:
    text, twice = chain(50).text, chain(100).text
    assert parse(twice).fusion == chain(100).fusion
    per_character = steps(parse, text) / len(text)
    assert steps(parse, twice) <= 1.1 * per_character * len(twice)
