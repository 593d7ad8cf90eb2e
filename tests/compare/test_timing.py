"""Kernel times: files of every kind, whose kernel is whose, and what is laid onto groups."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.compare.timing import GroupTime, KernelTime, KernelTimes, assign, from_profiles, overlay, read
from segscope.compare.timing.kernels import collect
from segscope.compare.timing.tables import launches_in
from segscope.errors import SegscopeError
from segscope.model import Capture, Group, SegmentedFusion
from tests.checks.handmade import fusion, tensor
from tests.conftest import FIXTURES

Read = Callable[[str], Capture]

TRACES = FIXTURES / "traces"
LLAMA_2 = TRACES / "h200_nvfuser_Llama-2-13b-hf_nograd.json.gz"
TINY_LLAMA = TRACES / "h200_nvfuser_tiny-llama-1.1b_nograd.json.gz"
INDUCTOR = TRACES / "h200_inductor_tiny-llama-1.1b_nograd.json.gz"

G4, G3 = "nvfuser_resize_f0_c1_r0_g4", "nvfuser_resize_f0_c1_r0_g3"
ARGUMENTS = "(nvf::Tensor<nvf::__bfloat, 2, 2>, nvf::Tensor<nvf::__bfloat, 4, 4>)"
NSYS_TRACE = f"""\
Generating SQLite file report.sqlite from report.nsys-rep
Processing [report.sqlite] with [/opt/nvidia/nsight-systems/reports/cuda_gpu_trace.py]...

Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),\
Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
1000,50240,101,,,,,,,,,,8.389,167.0,Pageable,Device,NVIDIA H200 (0),1,,7,[CUDA memcpy Host-to-Device]
60000,44863,102,40960,1,1,128,1,1,32,0.0,0.0,,,,,NVIDIA H200 (0),1,,7,"nvf::{G4}{ARGUMENTS}"
70000,45215,103,40960,1,1,128,1,1,32,0.0,0.0,,,,,NVIDIA H200 (0),1,,7,"nvf::{G3}{ARGUMENTS}"
80000,46000,104,40960,1,1,128,1,1,32,0.0,0.0,,,,,NVIDIA H200 (0),1,,7,"nvf::{G4}{ARGUMENTS}"
90000,44000,105,40960,1,1,128,1,1,32,0.0,0.0,,,,,NVIDIA H200 (0),1,,7,"nvf::{G4}{ARGUMENTS}"
"""
NSYS_SUM = f"""\
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
50.1,134863,3,44954.3,44863.0,44000,46000,1848.4,"nvf::{G4}{ARGUMENTS}"
49.9,45215,1,45215.0,45215.0,45215,45215,0.0,"nvf::{G3}{ARGUMENTS}"
"""
NCU_DETAILS = f"""\
==PROF== Connected to process 1234 (/usr/bin/python3)
==PROF== Profiling "{G4}" - 0: 0%....50%....100% - 9 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","python3","h","{G4}{ARGUMENTS}","1","7","(128, 1, 1)","(40960, 1, 1)","0","9.0","S","Elapsed Cycles","cycle","6"
"0","1","python3","h","{G4}{ARGUMENTS}","1","7","(128, 1, 1)","(40960, 1, 1)","0","9.0","S","Duration","us","44.86"
"1","1","python3","h","{G3}{ARGUMENTS}","1","7","(128, 1, 1)","(40960, 1, 1)","0","9.0","S","Duration","ns","45,215"
"""
NCU_RAW = f"""\
"ID","Process ID","Kernel Name","Grid Size","gpu__time_duration.sum","sm__cycles_elapsed.max"
"","","","","usecond","cycle"
"0","1","{G4}{ARGUMENTS}","(40960, 1, 1)","44.86","70,011"
"1","1","{G3}{ARGUMENTS}","(40960, 1, 1)","45.215","70,012"
"""
PROFILE = {
    "fusion_id": 0,
    "segments": 3,
    "kernel_profiles": [
        {"name": G4, "segment_id": 4, "scheduler": "resize", "time_ms": 0.04486},
        {"name": "", "segment_id": 0, "scheduler": "", "time_ms": 0.0},
        {"name": "kernel2", "segment_id": 3, "scheduler": "resize", "time_ms": 0.045215},
    ],
}


def written(folder: Path, content: str | Mapping[str, Any] | Iterable[Any]) -> Path:
    path = folder / "times"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def event(name: str, us: float, at: float = 0.0) -> dict[str, Any]:
    return {"ph": "X", "cat": "kernel", "name": name, "ts": at, "dur": us}


def kernel_of(one: SegmentedFusion, group: Group, program: str = "f0_c1_r0", us: float = 10.0) -> dict[str, Any]:
    """Return the launch of a group's kernel as torch.profiler writes it."""
    names = (name for name in (*group.inputs, *group.outputs) if name in one.tensors)
    ranks = (len(one.tensors[name].shape) for name in names)
    arguments = ", ".join(f"nvf::Tensor<nvf::__bfloat, {rank}, {rank}>" for rank in ranks)
    return event(f"nvf::nvfuser_{group.scheduler}_{program}_g{group.id}({arguments})", us)


def launched(folder: Path, *events: dict[str, Any]) -> KernelTimes:
    return read(written(folder, {"traceEvents": events}))


def all_kernels(one: SegmentedFusion, program: str = "f0_c1_r0") -> list[dict[str, Any]]:
    return [kernel_of(one, group, program) for group in one.kernel_groups]


def test_a_real_trace() -> None:
    g4, g3 = read(LLAMA_2).kernels
    assert g4 == KernelTime(
        name=G4, scheduler="resize", program=(0, 1, 0), group=4, ranks=(2, 2, 4, 4, 4, 4, 4, 4), us=44.863, launches=5
    )
    assert (g3.name, g3.us, g3.launches) == (G3, 45.215, 5)


def test_a_real_trace_on_its_capture(fixture_capture: Read) -> None:
    (today,) = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusions
    times = overlay(today, read(LLAMA_2))
    moved = 2 * 40 * 4096 * 128 * 2
    shared = 2 * 4096 * 128 * 2
    g4, g3 = times.groups
    assert [today.groups[time.group].label for time in times.groups] == ["g4", "g3"]
    assert (g4.bytes_read, g4.bytes_written) == (moved + shared, moved + shared)
    assert (g3.bytes_read, g3.bytes_written) == (moved + shared, moved)
    assert times.us == pytest.approx(44.863 + 45.215)
    assert g4.share + g3.share == pytest.approx(1)
    assert g4.bandwidth == pytest.approx(2 * (moved + shared) / 44.863e-6 / 1e9)
    assert (times.untimed, times.notes) == ((), ())


def test_what_is_read_through_views_is_counted_once(fixture_capture: Read) -> None:
    """g3 of tiny-llama reads k and both halves of it: 2.1 MB, and the shared 0.5 MB."""
    (today,) = fixture_capture("h200_0.2.36_tiny-llama-1.1b_bookend0_forward").fusions
    by_label = {today.groups[time.group].label: time for time in overlay(today, read(TINY_LLAMA)).groups}
    assert by_label["g3"].bytes_read == (2 * 4 * 2048 * 64 * 2) + 2 * (2048 * 64 * 2)


@pytest.mark.parametrize(
    ("file", "us"),
    [
        ("h200_nvfuser_tiny-llama-1.1b_nograd.json.gz", {2: 6.208, 4: 11.616, 3: 9.376}),
        ("h200_nvfuser-profiler_tiny-llama-1.1b_nograd.json.gz", {2: 6.208, 3: 9.6, 4: 11.713}),
        ("h200_ncu_tiny-llama-1.1b_nograd.csv.gz", {2: 7.712, 4: 14.496, 3: 12.288}),
        ("h200_ncu-raw_tiny-llama-1.1b_nograd.csv.gz", {2: 7.872, 4: 14.528, 3: 12.288}),
        ("h200_nvfuser-profiler_Llama-2-13b-hf_nograd.json.gz", {3: 46.24, 4: 44.768}),
        ("h200_ncu_Llama-2-13b-hf_nograd.csv.gz", {4: 50.464, 3: 50.272}),
    ],
)
def test_real_files_of_every_profiler(file: str, us: dict[int, float], fixture_capture: Read) -> None:
    times = read(TRACES / file)
    assert {kernel.group: round(kernel.us, 3) for kernel in times.kernels} == us
    assert {kernel.launches for kernel in times.kernels} == {5}
    (model,) = re.findall(r"tiny-llama-1.1b|Llama-2-13b-hf", file)
    (today,) = fixture_capture(f"h200_0.2.36_{model}_bookend0_forward").fusions
    timed = overlay(today, times)
    assert {today.groups[time.group].id: time.us for time in timed.groups} == {k.group: k.us for k in times.kernels}
    assert (timed.untimed, timed.notes) == ((), ())


@pytest.mark.parametrize(
    ("content", "g4", "g3"),
    [
        (NSYS_TRACE, (44.863, 3), (45.215, 1)),
        (NSYS_TRACE.replace("Duration (ns)", "Duration(nsec)"), (44.863, 3), (45.215, 1)),
        (NSYS_SUM, (44.863, 3), (45.215, 1)),
        (NSYS_SUM.replace("Med (ns)", "x"), (44.9543, 3), (45.215, 1)),
        (NSYS_SUM.replace("(ns)", "(ms)"), (44863000, 3), (45215000, 1)),
        (NCU_DETAILS, (44.86, 1), (45.215, 1)),
        (NCU_RAW, (44.86, 1), (45.215, 1)),
        (NCU_RAW.replace("usecond", "ms"), (44860, 1), (45215, 1)),
        ([PROFILE], (44.86, 1), (45.215, 1)),
        ([PROFILE, PROFILE], (44.86, 2), (45.215, 2)),
        ([event(G3, 2, at=2), event(G4, 1, at=1), event(G4, 3, at=3)], (2, 2), (2, 1)),
        ({"traceEvents": [event(G4, 1), event(G3, 2), event(G4, 3) | {"cat": "gpu_user_annotation"}]}, (1, 1), (2, 1)),
    ],
    ids=[
        "nsys trace",
        "nsys trace of 2021",
        "nsys sum",
        "nsys sum of 2021",
        "nsys in ms",
        "ncu",
        "ncu raw",
        "ncu raw in ms",
        "profile",
        "profiles",
        "trace as a list",
        "annotations in a trace",
    ],
)
def test_every_kind_of_file(content: Any, g4: tuple[float, int], g3: tuple[float, int], tmp_path: Path) -> None:
    found = {kernel.group: kernel for kernel in read(written(tmp_path, content)).kernels if kernel.group in (3, 4)}
    assert list(found) == [4, 3]
    assert (found[4].us, found[4].launches) == (pytest.approx(g4[0]), g4[1])
    assert (found[3].us, found[3].launches) == (pytest.approx(g3[0]), g3[1])
    assert {kernel.scheduler for kernel in found.values()} == {"resize"}


@pytest.mark.parametrize("content", [NSYS_TRACE, NSYS_SUM, NCU_DETAILS, NCU_RAW])
def test_arguments_are_read_where_they_are_written(content: str, tmp_path: Path) -> None:
    assert {kernel.ranks for kernel in read(written(tmp_path, content)).kernels} == {(2, 4)}
    names_only = content.replace(ARGUMENTS, "")
    assert {kernel.ranks for kernel in read(written(tmp_path, names_only)).kernels} == {None}
    cut_off = content.replace(ARGUMENTS, ARGUMENTS[:50])
    assert {kernel.ranks for kernel in read(written(tmp_path, cut_off)).kernels} == {None}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no kernel times: neither JSON, nor CSV of nsys"),
        ("a,b\n1,2\n", "no kernel times: neither JSON, nor CSV of nsys"),
        ("{", "no valid JSON"),
        ("[" * 100_000, "no valid JSON"),
        ("[1, 2]", "neither a Chrome trace (traceEvents) nor a profile of nvFuser (kernel_profiles)"),
        ({"traceEvents": 3}, "neither a Chrome trace"),
        ([event("ampere_sgemm", 1)], "no kernel of nvFuser whose name has a group"),
        ([event("nvfuser_pointwise_f0", 1)], "no kernel of nvFuser whose name has a group"),
        ([event(G4, float("nan"))], "has dur nan, which is no time"),
        ([event(G4, 10**400)], "which is no time"),
        ([event(G4, -1)], "has dur -1, which is no time"),
        ([{"ph": "X", "cat": "kernel", "name": G4, "ts": 0}], "has dur None, which is no time"),
        ({"kernel_profiles": 1}, "a profile of nvFuser has a list kernel_profiles, this has none"),
        ({"kernel_profiles": ["k"]}, "kernel_profiles holds 'k', which is no kernel's profile"),
        ({"kernel_profiles": [{"name": G4}]}, "has time_ms None, which is no time"),
        (NSYS_TRACE.replace(",44863,", ',"44,86",'), "line 6: '44,86' is no number"),
        (NCU_DETAILS.replace('"us"', '"cycle"'), "line 5: 'cycle' is no unit of time"),
        (
            NCU_DETAILS.replace('"Duration"', '"Cycles"'),
            "no time of its kernels: profile the metric gpu__time",
        ),
        (NSYS_TRACE + '"' + "x" * 200_000, "field larger than field limit"),
    ],
)
def test_bad_files_are_one_line(content: Any, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(SegscopeError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_launch_with_two_metrics_of_its_time_is_one(tmp_path: Path) -> None:
    rows = [line for line in NCU_DETAILS.splitlines() if '"Duration"' in line]
    both = NCU_DETAILS + "".join(f"{row}\n".replace('"Duration"', '"gpu__time_duration.sum"') for row in rows)
    assert read(written(tmp_path, both)).kernels == read(written(tmp_path, NCU_DETAILS)).kernels


def test_a_trace_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(LLAMA_2.read_bytes()[:2000])
    with pytest.raises(SegscopeError, match="the gzip data ends early"):
        read(path)


def test_a_trace_without_kernels_of_nvfuser() -> None:
    with pytest.raises(SegscopeError, match=r"inductor.*: no kernel of nvFuser whose name has a group"):
        read(INDUCTOR)


def test_profiles_in_memory() -> None:
    assert from_profiles(PROFILE).kernels[0].us == pytest.approx(44.86)
    with pytest.raises(SegscopeError, match="profile: no kernel of nvFuser"):
        from_profiles()


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 5)), min_size=1, max_size=8))
def test_the_median_is_that_of_all_launches(rows: list[tuple[float, int]]) -> None:
    table = "".join(f"{us:.3f},{times},{G4}\n" for us, times in rows)
    every = [float(f"{us:.3f}") for us, times in rows for _ in range(times)]
    (kernel,) = collect(launches_in(f"Med (us),Instances,Name\n{table}", "text"))
    assert kernel.us == pytest.approx(median(every))
    assert kernel.launches == len(every)


REAL = [
    "h200_0.2.36_tiny-llama-1.1b_bookend0_forward+backward",
    "h200_0.2.36_Llama-2-13b-hf_bookend0_forward+backward",
    "h200_0.2.36_phi-2_bookend0_forward+backward",
    "null_0.2.9_llama2-13b_bookend0_forward",
]


@pytest.mark.parametrize("name", REAL)
def test_fusions_that_share_a_number_are_told_apart_by_their_arguments(
    name: str, fixture_capture: Read, tmp_path: Path
) -> None:
    """nvfuser_direct numbers every fusion 0, so that forward and backward kernels have the same names."""
    fusions = fixture_capture(name).fusions
    events = [launch for one in fusions for launch in all_kernels(one)]
    assigned = assign(fusions, launched(tmp_path, *events))
    for one in fusions:
        times = overlay(one, assigned[one.index])
        assert [time.group for time in times.groups] == [group.index for group in one.kernel_groups]
        assert times.us == pytest.approx(10.0 * len(one.kernel_groups))
        assert (times.untimed, times.notes) == ((), ())


def test_programs_are_the_fusions_in_their_order_where_they_fit(fixture_capture: Read, tmp_path: Path) -> None:
    fusions = fixture_capture("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward").fusions
    events = [launch for one in fusions for launch in all_kernels(one, f"f{one.index + 7}_c1_r0")]
    assigned = assign(fusions, launched(tmp_path, *events))
    assert {index: times.kernels[0].program for index, times in assigned.items()} == {
        one.index: (one.index + 7, 1, 0) for one in fusions
    }


def test_alike_fusions_are_chosen_by_number(fixture_capture: Read, tmp_path: Path) -> None:
    """Fusions 1 and 5 are RoPE in the first and the second layer."""
    fusions = fixture_capture("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward").fusions
    times = launched(tmp_path, *all_kernels(fusions[5]))
    with pytest.raises(SegscopeError, match=r"_g2 may be of fusion 1 or 5: choose with --fusion$"):
        assign(fusions, times)
    for number in (1, 5):
        assert list(assign(fusions, times, number)) == [number]
    assert assign(fusions, times, 3) == {}


def test_two_kernels_for_one_group_are_an_error() -> None:
    one = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"))
    kernels = [_kernel("nvfuser_pointwise_f0_c1_r0_g0"), _kernel("nvfuser_pointwise_f0_c1_r1_g0", program=(0, 1, 1))]
    with pytest.raises(SegscopeError, match=r"2 kernels may be that of g0 of fusion 0 \(nvfuser.*\): measure this"):
        overlay(one, KernelTimes(source="t", kernels=tuple(kernels)))


@pytest.mark.parametrize(
    ("changed", "fits"),
    [
        ({}, True),
        ({"ranks": (2, 2)}, True),
        ({"ranks": (1, 1, 2, 2)}, True),
        ({"ranks": (2, 2, 3)}, False),
        ({"ranks": (2,)}, False),
        ({"scheduler": "reduction"}, False),
        ({"group": 1}, False),
    ],
    ids=["name only", "arguments", "buffers", "one more", "one less", "scheduler", "group"],
)
def test_a_kernel_fits_by_name_and_arguments(changed: dict[str, Any], fits: bool) -> None:
    one = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"))
    kernel = _kernel("nvfuser_pointwise_f0_c1_r0_g0").model_copy(update=changed)
    times = KernelTimes(source="t.json", kernels=(kernel,))
    if fits:
        assert overlay(one, times).groups[0].kernel == kernel.name
    else:
        with pytest.raises(SegscopeError, match=r"^t.json: no kernel of fusion 0; it has nvfuser_pointwise_f0_c1_r0"):
            overlay(one, times)


def _kernel(name: str, program: tuple[int, int, int] = (0, 1, 0), launches: int = 1, group: int = 0) -> KernelTime:
    facts = {"scheduler": "pointwise", "group": group, "ranks": None, "us": 10.0}
    return KernelTime.model_validate({"name": name, "program": program, "launches": launches, **facts})


def test_doubts_are_noted() -> None:
    texts = ("T1 = exp(T0)", "T2 = exp(T1)", "T3 = exp(T2)")
    one = fusion(["T0"], ["T3"], *(("pointwise", text) for text in texts))
    kernels = (_kernel("a", launches=5), _kernel("b", launches=10, group=1))
    times = overlay(one, KernelTimes(source="t", kernels=kernels))
    assert times.untimed == (2,)
    assert times.notes == (
        "fusion 0: no kernel fits g2: are the times of the same fusion?",
        "fusion 0: its kernels were launched 5 to 10 times: some may be another fusion's, named alike",
    )


def test_kernels_that_are_not_nvfusers_are_not_missed() -> None:
    product = fusion(["T0"], ["T1"], ("expr_eval", "T1 = matmul(T0)"))
    one = fusion(["T0"], ["T2"], ("expr_eval", "T1 = matmul(T0)"), ("pointwise", "T2 = exp(T1)"))
    first, second = (one.model_copy(update={"index": index}) for index in (1, 2))
    kernels = tuple(_kernel("a", program=(number, 1, 0), group=1) for number in (1, 2))
    found = assign([product, first, second], KernelTimes(source="t", kernels=kernels))
    assert {index: times.kernels for index, times in found.items()} == {1: kernels[:1], 2: kernels[1:]}
    times = overlay(first, found[1])
    assert (times.untimed, times.notes) == ((0,), ())


def test_a_dump_without_group_ids_is_an_error(fixture_capture: Read) -> None:
    with pytest.raises(SegscopeError, match="fusion 0 has no group ids, by which kernels are named"):
        overlay(fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion, read(LLAMA_2))


def test_bandwidth_is_unknown_where_sizes_are() -> None:
    unknown = tensor("T1").model_copy(update={"dtype": None})
    one = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"), tensors=(unknown,))
    (time,) = overlay(one, KernelTimes(source="t", kernels=(_kernel("a"),))).groups
    assert (time.bytes_read, time.bytes_written, time.bandwidth) == (8 * 64 * 4, None, None)


def test_bandwidth_is_unknown_where_there_is_no_time() -> None:
    facts = {"group": 0, "kernel": "k", "launches": 1, "share": 0.0, "bytes_read": 8, "bytes_written": 8}
    assert GroupTime.model_validate(facts | {"us": 0.0}).bandwidth is None
    assert GroupTime.model_validate(facts | {"us": 2.0}).bandwidth == pytest.approx(0.008)


def test_traces_may_be_unpacked(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.decompress(LLAMA_2.read_bytes()).decode())
    assert read(path).kernels == read(LLAMA_2).kernels
    assert Counter(kernel.launches for kernel in read(path).kernels) == {5: 2}
