"""Which launches are kernels of regions."""

from __future__ import annotations

from segscope.compare.executors.model import Timing
from segscope.render.executors.launched import launched, torch_kernels

from .samples import THUNDER_711, TODAY, forward, kernel, real, region

NVFUSER = "nvfuser_pointwise_f{}_c1_r0_g{}"
FILL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<long>, at::detail::Array<char*, 1> >"
    "(int, at::native::FillFunctor<long>, at::detail::Array<char*, 1>)"
)


def warm(**each_us: float) -> Timing:
    return Timing(l2="warm", calls=9, kernel_us=sum(each_us.values()), each_us=each_us, gap_us=0, host_us=20)


def test_kernels_stand_as_they_are_launched() -> None:
    (one,) = (run.get("forward") for run in real(TODAY).runs if run.executor == "thunder+nvfuser")
    assert one
    ((_, kernels),) = launched(one).regions
    assert [each.kernel.name for each in one.regions[0].kernels and kernels] == ["g2", "g4", "g3"]
    assert [each.launch for each in kernels] == list(one.launches)


def test_a_name_that_two_regions_have_is_launched_for_one_after_the_other() -> None:
    one = real(THUNDER_711).runs[2].get("backward")
    assert one
    found = launched(one)
    assert [[each.launches for each in kernels] for _, kernels in found.regions] == [[2], [0, 0], [2, 1]]
    assert found.torch == (FILL, FILL)


def test_eager_launches_only_torchs_kernels() -> None:
    one = real(TODAY).runs[0].get("forward")
    assert one
    assert launched(one).regions == ()
    assert torch_kernels(launched(one).torch) == {
        "mul": 4,
        "direct_copy": 3,
        "neg": 2,
        "add": 2,
        "CatArrayBatchedCopy": 2,
        "CatArrayBatchedCopy_vectorized": 2,
    }


def test_groups_of_two_fusions_are_told_apart() -> None:
    fusions = [region(kernel("g0", ("add", n), scheduler="pointwise"), segments=1) for n in (0, 1)]
    names = [NVFUSER.format(n, 0) for n in (0, 1)]
    one = forward(*fusions, launches=names, timings=(warm(**dict(zip(names, (3.0, 4.0), strict=True))),))
    assert [[(each.launch, each.us) for each in found] for _, found in launched(one).regions] == [
        [(names[0], 3.0)],
        [(names[1], 4.0)],
    ]


def test_where_a_dump_has_no_ids_only_the_one_of_its_scheduler_is_known() -> None:
    three = [kernel(f"#{n}", ("add", n), scheduler=s) for n, s in enumerate(("pointwise", "pointwise", "reduction"))]
    names = [NVFUSER.format(0, n) for n in (1, 0)] + ["nvfuser_reduction_f0_c1_r0_g2"]
    one = forward(region(*three, segments=3), launches=names, timings=(warm(**dict.fromkeys(names, 5.0)),))
    ((_, kernels),) = launched(one).regions
    assert [(each.kernel.name, each.us) for each in kernels] == [("#0", None), ("#1", None), ("#2", 5.0)]
    assert launched(one).torch == ()


def test_a_kernel_that_is_not_launched_is_last() -> None:
    two = region(kernel("lost", ("add", 0)), kernel("found", ("mul", 0)))
    ((_, kernels),) = launched(forward(two, launches=["found"])).regions
    assert [(each.kernel.name, each.launches) for each in kernels] == [("found", 1), ("lost", 0)]
