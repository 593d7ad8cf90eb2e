"""The compiled null device, asked through its C interface."""

from pathlib import Path
from typing import Any

import pytest

from segscope.capture.null_device import Card, card, cards

from .conftest import Ask

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, NOT_SUPPORTED = 0, 1, 2, 101, 801

DESCRIBE = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
from cuda_layout import ATTRIBUTES, DeviceProperties

def attribute(function, id):
    value = c_int()
    assert function(byref(value), id, 0) == 0
    return value.value

properties = DeviceProperties()
assert cuda.cudaGetDeviceProperties_v2(byref(properties), 0) == 0
answer = {{
    "name": properties.name.decode(),
    "totalGlobalMem": properties.totalGlobalMem,
    "properties": {{name: getattr(properties, name) for name in ATTRIBUTES}},
    "runtime": {{name: attribute(cuda.cudaDeviceGetAttribute, id) for name, id in ATTRIBUTES.items()}},
    "driver": {{name: attribute(cuda.cuDeviceGetAttribute, id) for name, id in ATTRIBUTES.items()}},
}}
"""


def described(entry: Card) -> dict[str, Any]:
    return {
        "major": entry.compute_capability // 10,
        "minor": entry.compute_capability % 10,
        "multiProcessorCount": entry.multiprocessors,
        "sharedMemPerMultiprocessor": entry.shared_memory_per_multiprocessor,
        "sharedMemPerBlockOptin": entry.shared_memory_per_block_optin,
        "l2CacheSize": entry.l2_cache,
        "clockRate": entry.clock_rate,
        "memoryClockRate": entry.memory_clock_rate,
        "memoryBusWidth": entry.memory_bus_width,
        "maxThreadsPerMultiProcessor": entry.max_threads_per_multiprocessor,
        "maxBlocksPerMultiProcessor": entry.max_blocks_per_multiprocessor,
        "clusterLaunch": int(entry.compute_capability >= 90),
    }


@pytest.mark.parametrize("name", cards())
def test_device_describes_the_card(ask: Ask, name: str) -> None:
    entry = card(name)
    answer = ask(DESCRIBE, played=name).value
    assert (answer["name"], answer["totalGlobalMem"]) == (entry.name, entry.global_memory)
    assert {key: answer["properties"][key] for key in described(entry)} == described(entry)
    assert answer["runtime"] == answer["driver"] == answer["properties"]


def test_what_is_refused_is_not_claimed(ask: Ask) -> None:
    properties = ask(DESCRIBE).value["properties"]
    claims = "managedMemory concurrentManagedAccess cooperativeMultiDeviceLaunch memoryPoolsSupported ipcEventSupported"
    assert {name: properties[name] for name in claims.split()} == dict.fromkeys(claims.split(), 0)


def test_memory_holds_what_is_copied_to_it(ask: Ask) -> None:
    answer = ask("""
device, text, back = c_void_p(), create_string_buffer(b"a tensor"), create_string_buffer(9)
codes = [cuda.cudaMalloc(byref(device), c_size_t(9)),
         cuda.cudaMemcpy(device, text, c_size_t(9), 1),
         cuda.cudaMemcpyAsync(back, device, c_size_t(9), 2, None),
         cuda.cudaFree(device)]
answer = [codes, device.value % (2 << 20), back.value.decode()]
""")
    assert answer.value == [[SUCCESS] * 4, 0, "a tensor"]


MEMORY = """
def free_memory():
    free, total = c_size_t(), c_size_t()
    cuda.cudaMemGetInfo(byref(free), byref(total))
    return free.value, total.value
"""


def test_a_card_has_no_more_than_its_memory(ask: Ask) -> None:
    answer = ask(
        MEMORY
        + """
half, rest, pointer = c_void_p(), c_void_p(), c_void_p()
total = free_memory()[1]
answer = [free_memory(),
          cuda.cudaMalloc(byref(half), c_size_t(total // 2)), free_memory(),
          cuda.cudaMalloc(byref(pointer), c_size_t(total - total // 2 + 4096)), pointer.value,
          cuda.cudaMalloc(byref(pointer), c_size_t(2**64 - 1)),
          cuda.cudaMalloc(byref(rest), c_size_t(total - total // 2)), free_memory(),
          cuda.cudaFree(half), cuda.cudaFree(rest), free_memory()]
""",
        played="a100",
    )
    total = card("a100").global_memory
    assert answer.value == [
        [total, total],
        *(SUCCESS, [total - total // 2, total]),
        *(OUT_OF_MEMORY, None),
        OUT_OF_MEMORY,
        *(SUCCESS, [0, total]),
        *(SUCCESS, SUCCESS, [total, total]),
    ]


def test_memory_adds_up_when_threads_share_it(ask: Ask) -> None:
    answer = ask(
        MEMORY
        + """
import threading
codes = set()
def work():
    for i in range(500):
        pointer = c_void_p()
        codes.add(cuda.cudaMalloc(byref(pointer), c_size_t(4096 * (i % 7 + 1))))
        codes.add(cuda.cudaFree(pointer))
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
answer = [sorted(codes), free_memory()]
"""
    )
    total = card("h200").global_memory
    assert answer.value == [[SUCCESS], [total, total]]


def test_only_what_was_allocated_is_freed(ask: Ask) -> None:
    answer = ask("""
device = c_void_p()
cuda.cudaMalloc(byref(device), c_size_t(8192))
inside = c_void_p(device.value + 4096)
answer = [cuda.cudaFree(None), cuda.cudaFree(inside), cuda.cudaFree(device), cuda.cudaFree(device)]
""")
    assert answer.value == [SUCCESS, INVALID_VALUE, SUCCESS, INVALID_VALUE]


def test_pointers_are_told_apart(ask: Ask) -> None:
    answer = ask("""
class Attributes(ctypes.Structure):
    _fields_ = [("type", c_int), ("device", c_int), ("devicePointer", c_void_p), ("hostPointer", c_void_p)]
device, host, of_device, of_host = c_void_p(), create_string_buffer(8), Attributes(), Attributes()
cuda.cudaMalloc(byref(device), c_size_t(4096))
cuda.cudaPointerGetAttributes(byref(of_device), c_void_p(device.value + 8))
cuda.cudaPointerGetAttributes(byref(of_host), host)
start, size = c_void_p(), c_size_t()
code = cuda.cuMemGetAddressRange_v2(byref(start), byref(size), c_void_p(device.value + 8))
kind = c_int()
answer = [of_device.type, of_device.devicePointer == device.value + 8, of_host.type, of_host.devicePointer,
          code, start.value == device.value, size.value,
          cuda.cuPointerGetAttribute(byref(kind), 2, device), kind.value,
          cuda.cuPointerGetAttribute(byref(kind), 2, host)]
""")
    assert answer.value == [2, True, 0, None, SUCCESS, True, 4096, SUCCESS, 2, INVALID_VALUE]


@pytest.mark.parametrize(
    "call",
    [
        "cudaEventElapsedTime(byref(c_float()), None, None)",
        "cudaProfilerStart()",
        "cudaStreamBeginCapture(None, 0)",
        "cudaGraphInstantiate(None, None, 0)",
        "cudaIpcGetMemHandle(None, None)",
        "cudaDeviceEnablePeerAccess(1, 0)",
        "cudaMemcpyPeerAsync(None, 1, None, 0, c_size_t(0), None)",
        "cuLinkCreate_v2(0, None, None, None)",
    ],
)
def test_what_needs_a_real_device_is_refused(ask: Ask, call: str) -> None:
    assert ask(f"answer = cuda.{call}").value == NOT_SUPPORTED


def test_elapsed_time_leaves_no_number(ask: Ask) -> None:
    answer = ask("""
milliseconds, event = c_float(-1), c_void_p()
cuda.cudaEventCreate(byref(event)), cuda.cudaEventRecord(event, None)
cuda.cudaEventElapsedTime(byref(milliseconds), event, event)
answer = milliseconds.value
""")
    assert answer.value == -1


def test_there_is_one_device(ask: Ask) -> None:
    answer = ask("""
count, peer = c_int(), c_int(1)
cuda.cudaGetDeviceCount(byref(count)), cuda.cudaDeviceCanAccessPeer(byref(peer), 0, 1)
answer = [count.value, peer.value, cuda.cudaSetDevice(0), cuda.cudaSetDevice(1)]
""")
    assert answer.value == [1, 0, SUCCESS, INVALID_DEVICE]


def test_errors_have_names_and_texts(ask: Ask) -> None:
    answer = ask("""
for function in (cuda.cudaGetErrorName, cuda.cudaGetErrorString): function.restype = c_char_p
driver = c_char_p()
cuda.cuGetErrorName(801, byref(driver))
answer = [cuda.cudaGetErrorName(2).decode(), cuda.cudaGetErrorString(801).decode(), driver.value.decode(),
          cuda.cudaGetErrorName(12345).decode()]
""")
    assert answer.value == [
        "cudaErrorMemoryAllocation",
        "operation not supported by the null device",
        "cudaErrorNotSupported",
        "cudaErrorUnknown",
    ]


CLUSTERS = """
value = c_int()
for _ in range(2):
    cuda.cudaOccupancyMaxActiveClusters(byref(value), None, None)
    cuda.cuOccupancyMaxActiveClusters(byref(value), None, None)
    cuda.cuOccupancyMaxPotentialClusterSize(byref(value), None, None)
"""


def test_invented_answers_are_noted_once_each(ask: Ask) -> None:
    functions = [
        "cudaOccupancyMaxActiveClusters",
        "cuOccupancyMaxActiveClusters",
        "cuOccupancyMaxPotentialClusterSize",
    ]
    assert ask(CLUSTERS).stderr == [f"segscope null device: invented answer: {name}" for name in functions]


@pytest.mark.parametrize(
    ("played", "threads", "shared_memory", "blocks"),
    [
        ("h200", 1024, 0, 2),  # by threads: 2048
        ("l4", 1024, 0, 1),  # by threads: 1536
        ("l4", 33, 0, 24),  # by blocks; 33 threads are two warps
        ("h200", 32, 0, 32),  # by blocks
        ("h200", 128, 100 * 1024, 2),  # by shared memory: 228 KiB, and 1 KiB of each block is CUDA's
        ("h200", 0, 0, 0),
    ],
)
def test_occupancy_follows_the_card(ask: Ask, played: str, threads: int, shared_memory: int, blocks: int) -> None:
    answer = ask(
        f"""
runtime, driver = c_int(), c_int()
question = None, {threads}, c_size_t({shared_memory})
cuda.cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(byref(runtime), *question, 0)
cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(byref(driver), *question)
answer = [runtime.value, driver.value]
""",
        played=played,
    )
    assert answer.value == [blocks, blocks]
    assert answer.stderr == []


def test_driver_functions_are_found_by_name(ask: Ask) -> None:
    answer = ask("""
def found(name, *arguments):
    function, result = c_void_p(), c_int(-1)
    code = cuda.cudaGetDriverEntryPointByVersion(name, byref(function), 12000, c_uint64(0), byref(result))
    return code, result.value, ctypes.CFUNCTYPE(c_int)(function.value)
plain, versioned, unknown = found(b"cuInit"), found(b"cuMemFree"), found(b"cuMulticastCreate")
same = ctypes.cast(cuda.cuMemFree_v2, c_void_p).value == ctypes.cast(versioned[2], c_void_p).value
answer = [plain[:2], plain[2](), same, unknown[:2], unknown[2]()]
""")
    assert answer.value == [[SUCCESS, 0], SUCCESS, True, [SUCCESS, 0], NOT_SUPPORTED]


def test_launched_kernels_and_callbacks_come_back(ask: Ask) -> None:
    answer = ask("""
called = []
note = ctypes.CFUNCTYPE(None, c_void_p)(called.append)
launch = cuda.cudaLaunchKernel
launch.argtypes = [c_void_p, c_uint64, ctypes.c_uint, c_uint64, ctypes.c_uint, c_void_p, c_size_t, c_void_p]
answer = [launch(None, 1, 1, 1, 1, None, 0, None), cuda.cudaLaunchHostFunc(None, note, c_void_p(7)), called]
""")
    assert answer.value == [SUCCESS, SUCCESS, [7]]


def test_compiler_compiles_everything(ask: Ask) -> None:
    answer = ask("""
program, size, name, log = c_void_p(), c_size_t(), c_char_p(), create_string_buffer(b"x")
codes = [nvrtc.nvrtcCreateProgram(byref(program), b"not C++", None, 0, None, None),
         nvrtc.nvrtcCompileProgram(program, 0, None), nvrtc.nvrtcGetCUBINSize(program, byref(size))]
code = create_string_buffer(b"y" * size.value, size.value)
codes += [nvrtc.nvrtcGetCUBIN(program, code), nvrtc.nvrtcGetProgramLog(program, log),
          nvrtc.nvrtcDestroyProgram(byref(program))]
answer = [codes, set(code.raw) == {0}, log.value.decode(), program.value]
""")
    assert answer.value == [[SUCCESS] * 6, True, "", None]


def test_trace_names_every_call(ask: Ask) -> None:
    script = "number = byref(c_int()); cuda.cudaGetDevice(number); cuda.cuInit(0); nvrtc.nvrtcVersion(number, number)"
    calls = ["cudaGetDevice", "cuInit", "nvrtcVersion"]
    assert ask(script, SEGSCOPE_NULL_TRACE="1").stderr == [f"segscope null device: {call}" for call in calls]
    assert ask(script).stderr == []


H200 = card("h200").variable()


@pytest.mark.parametrize(
    ("variable", "complaint"),
    [
        (None, "not set"),
        ("", "not key=value: "),
        ("h200", "not key=value: h200"),
        (H200.replace("multiprocessors=132", "multiprocessors=many"), "bad field: multiprocessors"),
        (H200.replace("multiprocessors=132", "multiprocessors=-132"), "bad field: multiprocessors"),
        (H200 + ";tensor_cores=4", "bad field: tensor_cores"),
        (H200.replace("l2_cache=62914560;", ""), "missing: l2_cache"),
        (H200.replace("name=NVIDIA H200;", ""), "missing: name"),
    ],
)
def test_without_a_card_the_process_ends_at_once(ask: Ask, variable: str | None, complaint: str) -> None:
    answer = ask("answer = 1", SEGSCOPE_NULL_CARD=variable)
    assert answer.status == 127
    assert answer.value is None
    assert answer.stderr == [
        f"segscope null device: SEGSCOPE_NULL_CARD: {complaint}; the null device is started by segscope only"
    ]
