/* The driver API, as far as it is linked to or looked up by name:
 *   torch        through libcaffe2_nvrtc.so (links), libc10_cuda.so and libtorch_cuda.so (by name)
 *   nvFuser      by name; its builds of 2024 through dlsym on libcuda.so
 *   Triton       through dlsym on libcuda.so.1 and by linking its launchers to it
 */
#include "null_device.h"

#include <stdio.h>
#include <string.h>

/* Handles that are only ever handed back. */
#define CONTEXT HANDLE(0x20)
#define MODULE HANDLE(0x30)

/* ---------------------------------------------------------------- device and context */

NOOP(cuInit)

status_t cuGetErrorName(status_t status, const char **name)
{
    *name = status_name(status);
    return SUCCESS;
}

status_t cuGetErrorString(status_t status, const char **text)
{
    *text = status_text(status);
    return SUCCESS;
}

status_t cuDeviceGetCount(int *count)
{
    TRACE();
    *count = 1;
    return SUCCESS;
}

status_t cuDeviceGet(int *device, int ordinal)
{
    TRACE();
    *device = ordinal;
    return ordinal == DEVICE ? SUCCESS : INVALID_DEVICE;
}

status_t cuDeviceGetAttribute(int *value, int attribute, int device)
{
    TRACE();
    *value = card_attribute(attribute);
    return SUCCESS;
}

status_t cuDeviceGetName(char *name, int size, int device)
{
    TRACE();
    snprintf(name, size, "%s", card.name);
    return SUCCESS;
}

status_t cuDeviceGetUuid(void *uuid, int device)
{
    TRACE();
    memset(uuid, MADE_UP_UUID_BYTE, UUID_SIZE);
    return SUCCESS;
}

status_t cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    TRACE();
    *flags = 0;
    *active = true;
    return SUCCESS;
}

status_t cuDevicePrimaryCtxRetain(void **context, int device)
{
    TRACE();
    *context = CONTEXT;
    return SUCCESS;
}

status_t cuCtxGetCurrent(void **context)
{
    TRACE();
    *context = CONTEXT;
    return SUCCESS;
}

NOOP(cuCtxSetCurrent)

/* Triton asks for the size of the buffer of a kernel's printf before it sets it. */
status_t cuCtxGetLimit(size_t *value, int limit)
{
    TRACE();
    *value = 1 << 20;
    return SUCCESS;
}

NOOP(cuCtxSetLimit)

/* ---------------------------------------------------------------- modules and functions */

status_t cuModuleLoad(void **module, const char *path)
{
    TRACE();
    *module = MODULE;
    return SUCCESS;
}

status_t cuModuleLoadData(void **module, const void *image)
{
    TRACE();
    *module = MODULE;
    return SUCCESS;
}

enum { JIT_INFO_LOG_BUFFER = 3, JIT_ERROR_LOG_BUFFER = 5 };

status_t cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options, void **values)
{
    TRACE();
    *module = MODULE;
    for (unsigned i = 0; i < count; i++) /* nvFuser prints the log buffers, so they must end */
        if ((options[i] == JIT_INFO_LOG_BUFFER || options[i] == JIT_ERROR_LOG_BUFFER) && values[i] != NULL)
            *(char *)values[i] = '\0';
    return SUCCESS;
}

NOOP(cuModuleUnload)

/* A function's handle is its name, which is never freed: they are few. */
status_t cuModuleGetFunction(void **function, void *module, const char *name)
{
    TRACE();
    *function = strdup(name);
    return *function == NULL ? OUT_OF_MEMORY : SUCCESS;
}

REFUSE(cuLinkCreate_v2)
REFUSE(cuLinkAddData_v2)
REFUSE(cuLinkComplete)

enum function_attribute {
    FUNCTION_MAX_THREADS_PER_BLOCK = 0,
    FUNCTION_REGISTERS = 4,
    FUNCTION_PTX_VERSION = 5,
    FUNCTION_BINARY_VERSION = 6,
    FUNCTION_MAX_DYNAMIC_SHARED_MEMORY = 8,
};

static int function_attribute(int attribute)
{
    switch ((enum function_attribute)attribute) {
    case FUNCTION_MAX_THREADS_PER_BLOCK:
        return MAX_THREADS_PER_BLOCK;
    case FUNCTION_REGISTERS:
        return ASSUMED_REGISTERS_PER_THREAD;
    case FUNCTION_PTX_VERSION:
    case FUNCTION_BINARY_VERSION:
        return card.compute_capability;
    case FUNCTION_MAX_DYNAMIC_SHARED_MEMORY:
        return SHARED_MEMORY_PER_BLOCK;
    }
    return 0; /* static shared memory, local memory, spills: none */
}

status_t cuFuncGetAttribute(int *value, int attribute, void *function)
{
    TRACE();
    *value = function_attribute(attribute);
    return SUCCESS;
}

NOOP(cuFuncSetAttribute)
NOOP(cuFuncSetCacheConfig)

status_t cuLaunchKernel(void *function)
{
    TRACE();
    log_launch(function);
    return SUCCESS;
}

status_t cuLaunchKernelEx(const void *configuration, void *function)
{
    TRACE();
    log_launch(function);
    return SUCCESS;
}

status_t cuLaunchCooperativeKernel(void *function)
{
    TRACE();
    log_launch(function);
    return SUCCESS;
}

/* The descriptor is read by the kernel only. */
NOOP(cuTensorMapEncodeTiled)

/* ---------------------------------------------------------------- occupancy */

status_t cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                     size_t dynamic_shared_memory)
{
    TRACE();
    *blocks = resident_blocks(threads, dynamic_shared_memory);
    return SUCCESS;
}

status_t cuOccupancyAvailableDynamicSMemPerBlock(size_t *size, void *function, int blocks, int threads)
{
    TRACE();
    *size = shared_memory_left(blocks);
    return SUCCESS;
}

status_t cuOccupancyMaxActiveClusters(int *clusters, void *function, const void *configuration)
{
    TRACE();
    INVENTED();
    *clusters = resident_clusters();
    return SUCCESS;
}

/* The largest cluster that every card with clusters can launch (CUDA C++ Programming Guide, "Thread Block
 * Clusters"); a real card may allow a kernel more, or less. */
enum { PORTABLE_CLUSTER_SIZE = 8 };

status_t cuOccupancyMaxPotentialClusterSize(int *size, void *function, const void *configuration)
{
    TRACE();
    INVENTED();
    *size = PORTABLE_CLUSTER_SIZE;
    return SUCCESS;
}

/* ---------------------------------------------------------------- memory */

/* The first four: Triton before 3.0. */

status_t cuMemAlloc_v2(void **pointer, size_t size)
{
    TRACE();
    return device_malloc(pointer, size);
}

status_t cuMemFree_v2(void *pointer)
{
    TRACE();
    return device_free(pointer);
}

status_t cuMemcpyHtoD_v2(void *to, const void *from, size_t size)
{
    TRACE();
    memmove(to, from, size);
    return SUCCESS;
}

status_t cuMemcpyDtoH_v2(void *to, const void *from, size_t size)
{
    TRACE();
    memmove(to, from, size);
    return SUCCESS;
}

status_t cuMemGetAddressRange_v2(void **start, size_t *size, void *address)
{
    TRACE();
    block_t block;
    if (!device_owns(address, &block))
        return INVALID_VALUE;
    if (start != NULL)
        *start = block.start;
    if (size != NULL)
        *size = block.size;
    return SUCCESS;
}

enum pointer_attribute {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE_POINTER = 3,
    POINTER_IS_MANAGED = 8,
    POINTER_DEVICE_ORDINAL = 9,
};

enum { MEMORY_TYPE_DEVICE = 2 };

status_t cuPointerGetAttribute(void *value, int attribute, void *pointer)
{
    TRACE();
    if (!device_owns(pointer, NULL))
        return INVALID_VALUE;
    switch ((enum pointer_attribute)attribute) {
    case POINTER_CONTEXT:
        *(void **)value = CONTEXT;
        return SUCCESS;
    case POINTER_MEMORY_TYPE:
        *(unsigned *)value = MEMORY_TYPE_DEVICE;
        return SUCCESS;
    case POINTER_DEVICE_POINTER:
        *(void **)value = pointer;
        return SUCCESS;
    case POINTER_IS_MANAGED:
        *(unsigned *)value = false;
        return SUCCESS;
    case POINTER_DEVICE_ORDINAL:
        *(int *)value = DEVICE;
        return SUCCESS;
    }
    return NOT_SUPPORTED;
}
