"""The loop against real segmentations: the same groups, and the same trials in the same order."""

from pathlib import Path

import pytest

from segscope.compare.diff import diff
from segscope.model import SegmentedFusion
from segscope.segmenter import Simulation, simulate
from tests.conftest import DUMPS
from tests.segmenter.exact import differences, groups, one, read_fusions, version_of

JULY, TODAY = "null_0.2.8_llama2-13b_log_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_log_forward"
TRANSPOSES = "null_0.2.8_tinyllama_bookend0_forward.txt"
"""Which group is a transpose hangs on layouts of outputs that the dump does not print: to the rules it is pointwise."""


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
def test_the_rules_segment_every_fusion_as_nvfuser_did(path: Path) -> None:
    for real in read_fusions(path):
        simulation = simulate(real, version=version_of(path))
        assert simulation.unknown == ()
        assert differences(real, simulation.fusion) == []
        assert len(simulation.fusion.kernel_groups) == len(real.kernel_groups)
        if path.name != TRANSPOSES:
            assert diff(real, simulation.fusion).changes == ()


@pytest.mark.parametrize(
    ("name", "version", "resize", "trials"), [(JULY, "0.2.8", True, 199), (TODAY, "0.2.36", False, 114)]
)
def test_the_log_is_repeated_trial_by_trial(name: str, version: str, resize: bool, trials: int) -> None:
    real = one(name)
    simulation = simulate(real, oracle="log", version=version_of(Path(f"{name}.txt")))
    assert real.log is not None
    printed = [(frozenset(n for n in t.outputs if n[0] == "T"), t.accepted) for t in real.log.trials]
    assert [(trial.tensors, trial.accepted) for trial in simulation.trials if trial.step != "whole"] == printed
    assert len(printed) == trials
    assert simulation.unknown == ()
    assert groups(simulation.fusion) == groups(real)


def test_rules_and_log_agree_on_every_trial_of_july() -> None:
    def told(simulation: Simulation) -> list[tuple[frozenset[str], bool]]:
        return [(trial.tensors, trial.accepted is not None) for trial in simulation.trials]

    july = one(JULY)
    by_rules, by_log = (simulate(july, oracle=oracle, version="0.2.8") for oracle in ("rules", "log"))  # type: ignore[arg-type]
    assert told(by_rules) == told(by_log)


def test_the_result_is_a_fusion_like_any_other() -> None:
    real = one(JULY)
    simulated = simulate(real, version="0.2.8").fusion
    assert SegmentedFusion.model_validate_json(simulated.model_dump_json()) == simulated
    assert (simulated.count(), simulated.count("pointwise"), simulated.count("no_op")) == (6, 6, 5)
    again = simulate(simulated, version="0.2.8").fusion
    assert differences(simulated, again) == []


def test_a_fusion_that_is_taken_as_a_whole_is_one_group() -> None:
    gpt = next(path for path in DUMPS if "gpt" in path.name)
    whole = [fusion for fusion in read_fusions(gpt) if len(fusion.groups) == 1]
    assert {fusion.groups[0].scheduler for fusion in whole} == {
        "pointwise",
        "inner_persistent",
        "inner_outer_persistent",
    }
    for real in whole:
        simulation = simulate(real, version="0.2.36")
        assert [trial.step for trial in simulation.trials] == ["whole"]
        assert simulation.fusion.schedulers == real.schedulers
