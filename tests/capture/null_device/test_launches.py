"""The null device's log of launched kernels, asked through its C interface."""

from .conftest import Ask

BEGIN = """
cuda.segscope_null_launches_stop.restype = c_char_p

def register(stub, name):
    getattr(cuda, "__cudaRegisterFunction")(None, c_void_p(stub), None, name)

def function(name):
    handle = c_void_p()
    assert cuda.cuModuleGetFunction(byref(handle), None, name) == 0
    return handle

def launch(stub):
    assert cuda.cudaLaunchKernel(c_void_p(stub)) == 0

def logged():
    text = cuda.segscope_null_launches_stop()
    return None if text is None else text.decode().splitlines()
"""


def test_every_way_to_launch_is_logged_and_nothing_else(ask: Ask) -> None:
    answer = ask(
        BEGIN
        + """
register(0x10, b"_Z3addv"), register(0x20, b"_Z3mulv")
triton, nvfuser = function(b"triton_poi_fused_add_0"), function(b"nvfuser_none_f0_c0_r0_g0")
launch(0x10)
cuda.segscope_null_launches_start()
launch(0x20)
cuda.cudaLaunchKernelExC(None, c_void_p(0x10))
cuda.cuLaunchKernel(triton), cuda.cuLaunchKernelEx(None, nvfuser), cuda.cuLaunchCooperativeKernel(nvfuser)
data = create_string_buffer(8)
cuda.cudaMemcpyAsync(data, data, c_size_t(8), 1, None), cuda.cudaMemsetAsync(data, 0, c_size_t(8), None)
answer = [logged()]
launch(0x10)
answer.append(logged())
"""
    )
    names = ["_Z3mulv", "_Z3addv", "triton_poi_fused_add_0", "nvfuser_none_f0_c0_r0_g0", "nvfuser_none_f0_c0_r0_g0"]
    assert answer.value == [names, None]


def test_each_log_begins_empty(ask: Ask) -> None:
    answer = ask(
        BEGIN
        + """
register(0x10, b"first"), register(0x20, b"second")
answer = [logged()]
cuda.segscope_null_launches_start(), launch(0x10), cuda.segscope_null_launches_start(), launch(0x20)
answer.append(logged())
cuda.segscope_null_launches_start()
answer.append(logged())
"""
    )
    assert answer.value == [None, ["second"], []]


def test_kernels_are_found_among_many_and_the_latest_at_an_address_counts(ask: Ask) -> None:
    answer = ask(
        BEGIN
        + """
names = [b"kernel%d" % number for number in range(5000)]
for number, name in enumerate(names): register(16 * (number + 1), name)
register(16, b"loaded later")
cuda.segscope_null_launches_start()
launch(16), launch(32), launch(16 * 5000), launch(8)
answer = logged()
"""
    )
    assert answer.value == ["loaded later", "kernel1", "kernel4999", "unregistered kernel"]


def test_launches_of_several_threads_are_all_logged(ask: Ask) -> None:
    answer = ask(
        BEGIN
        + """
import collections, threading
register(0x10, b"runtime's")
driver = function(b"driver's")
def work():
    for _ in range(500):
        launch(0x10)
        cuda.cuLaunchKernel(driver)
cuda.segscope_null_launches_start()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
answer = collections.Counter(logged())
"""
    )
    assert answer.value == {"runtime's": 4000, "driver's": 4000}


def test_a_compiled_kernel_keeps_the_name_that_it_was_given(ask: Ask) -> None:
    answer = ask(
        BEGIN
        + """
program, lowered, expression = c_void_p(), c_char_p(), b"nvf::nvfuser_none_f0_c0_r0_g0"
nvrtc.nvrtcCreateProgram(byref(program), b"", None, 0, None, None)
nvrtc.nvrtcAddNameExpression(program, expression)
nvrtc.nvrtcGetLoweredName(program, expression, byref(lowered))
kernel = function(lowered.value)
cuda.segscope_null_launches_start(), cuda.cuLaunchKernelEx(None, kernel)
answer = logged()
"""
    )
    assert answer.value == ["nvf::nvfuser_none_f0_c0_r0_g0"]
