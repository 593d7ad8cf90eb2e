/* The device as the runtime describes it: attributes (the runtime's and the driver's ids are the same),
 * properties, versions, and the choice of the one device there is. */
#include "null_device.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- attributes */

/* The ids of cudaDeviceAttr and CUdevice_attribute that are answered with anything but 0. */
enum attribute {
    ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    ATTRIBUTE_MAX_GRID_DIM_X = 5,
    ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
    ATTRIBUTE_WARP_SIZE = 10,
    ATTRIBUTE_MAX_PITCH = 11,
    ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
    ATTRIBUTE_CLOCK_RATE = 13,
    ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
    ATTRIBUTE_GPU_OVERLAP = 15,
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    ATTRIBUTE_CONCURRENT_KERNELS = 31,
    ATTRIBUTE_ECC_ENABLED = 32,
    ATTRIBUTE_PCI_BUS_ID = 33,
    ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    ATTRIBUTE_L2_CACHE_SIZE = 38,
    ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
    ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51,
    ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
    ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
    ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80,
    ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
    ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
    ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
    ATTRIBUTE_CLUSTER_LAUNCH = 120,
    ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED = 127,
};

enum { MAX_PITCH = 2147483647, TEXTURE_ALIGNMENT = 512, TEXTURE_PITCH_ALIGNMENT = 32 };
enum { PCI_BUS = 1, COPY_ENGINES = 3 };

/* Managed memory, memory pools, virtual memory and peers answer 0 whatever the card has: they are refused here. */
int card_attribute(int attribute)
{
    switch ((enum attribute)attribute) {
    case ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return MAX_THREADS_PER_BLOCK;
    case ATTRIBUTE_MAX_BLOCK_DIM_X:
    case ATTRIBUTE_MAX_BLOCK_DIM_Y:
        return MAX_BLOCK_DIM_XY;
    case ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return MAX_BLOCK_DIM_Z;
    case ATTRIBUTE_MAX_GRID_DIM_X:
        return MAX_GRID_DIM_X;
    case ATTRIBUTE_MAX_GRID_DIM_Y:
    case ATTRIBUTE_MAX_GRID_DIM_Z:
        return MAX_GRID_DIM_YZ;
    case ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return SHARED_MEMORY_PER_BLOCK;
    case ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
        return CONSTANT_MEMORY;
    case ATTRIBUTE_WARP_SIZE:
        return WARP_SIZE;
    case ATTRIBUTE_MAX_PITCH:
        return MAX_PITCH;
    case ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        return REGISTERS;
    case ATTRIBUTE_CLOCK_RATE:
        return card.clock_rate;
    case ATTRIBUTE_TEXTURE_ALIGNMENT:
        return TEXTURE_ALIGNMENT;
    case ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
        return TEXTURE_PITCH_ALIGNMENT;
    case ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return card.multiprocessors;
    case ATTRIBUTE_PCI_BUS_ID:
        return PCI_BUS;
    case ATTRIBUTE_MEMORY_CLOCK_RATE:
        return card.memory_clock_rate;
    case ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return card.memory_bus_width;
    case ATTRIBUTE_L2_CACHE_SIZE:
        return card.l2_cache;
    case ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return card.max_threads_per_multiprocessor;
    case ATTRIBUTE_ASYNC_ENGINE_COUNT:
        return COPY_ENGINES;
    case ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return card.compute_capability / 10;
    case ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return card.compute_capability % 10;
    case ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return card.shared_memory_per_multiprocessor;
    case ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return card.shared_memory_per_block_optin;
    case ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return card.max_blocks_per_multiprocessor;
    case ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return RESERVED_SHARED_MEMORY_PER_BLOCK;
    case ATTRIBUTE_CLUSTER_LAUNCH:
    case ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
        return card.compute_capability >= CLUSTER_COMPUTE_CAPABILITY;
    case ATTRIBUTE_GPU_OVERLAP:
    case ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case ATTRIBUTE_CONCURRENT_KERNELS:
    case ATTRIBUTE_ECC_ENABLED:
    case ATTRIBUTE_UNIFIED_ADDRESSING:
    case ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
    case ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
    case ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case ATTRIBUTE_COOPERATIVE_LAUNCH:
        return 1;
    }
    return 0;
}

status_t cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    TRACE();
    *value = card_attribute(attribute);
    return SUCCESS;
}

/* ---------------------------------------------------------------- properties */

/* cudaDeviceProp as CUDA 12.0 to 12.9 lay it out. Fields that stay 0 are only there for their size. */
struct device_properties {
    char name[256];
    char uuid[UUID_SIZE];
    char luid[8];
    unsigned luid_device_node_mask;
    size_t total_global_memory;
    size_t shared_memory_per_block;
    int registers_per_block;
    int warp_size;
    size_t memory_pitch;
    int max_threads_per_block;
    int max_threads_dim[3];
    int max_grid_size[3];
    int clock_rate;
    size_t total_constant_memory;
    int major;
    int minor;
    size_t texture_alignment;
    size_t texture_pitch_alignment;
    int device_overlap;
    int multiprocessor_count;
    int kernel_execution_timeout;
    int integrated;
    int can_map_host_memory;
    int compute_mode;
    int texture_and_surface_limits[40];
    size_t surface_alignment;
    int concurrent_kernels;
    int ecc_enabled;
    int pci_bus_id;
    int pci_device_id;
    int pci_domain_id;
    int tcc_driver;
    int async_engine_count;
    int unified_addressing;
    int memory_clock_rate;
    int memory_bus_width;
    int l2_cache_size;
    int persisting_l2_cache_max_size;
    int max_threads_per_multiprocessor;
    int stream_priorities_supported;
    int global_l1_cache_supported;
    int local_l1_cache_supported;
    size_t shared_memory_per_multiprocessor;
    int registers_per_multiprocessor;
    int managed_memory;
    int is_multi_gpu_board;
    int multi_gpu_board_group_id;
    int host_native_atomic_supported;
    int single_to_double_precision_performance_ratio;
    int pageable_memory_access;
    int concurrent_managed_access;
    int compute_preemption_supported;
    int can_use_host_pointer_for_registered_memory;
    int cooperative_launch;
    int cooperative_multi_device_launch;
    size_t shared_memory_per_block_optin;
    int pageable_memory_access_uses_host_page_tables;
    int direct_managed_memory_access_from_host;
    int max_blocks_per_multiprocessor;
    int access_policy_max_window_size;
    size_t reserved_shared_memory_per_block;
    int host_register_supported;
    int sparse_cuda_array_supported;
    int host_register_read_only_supported;
    int timeline_semaphore_interop_supported;
    int memory_pools_supported;
    int gpu_direct_rdma[3];
    int memory_pool_supported_handle_types;
    int deferred_mapping_cuda_array_supported;
    int ipc_event_supported;
    int cluster_launch;
    int unified_function_pointers;
    int reserved[63];
};

_Static_assert(sizeof(struct device_properties) == 1032, "sizeof(cudaDeviceProp) in CUDA 12");

status_t cudaGetDeviceProperties_v2(struct device_properties *p, int device)
{
    TRACE();
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", card.name);
    memset(p->uuid, MADE_UP_UUID_BYTE, UUID_SIZE);
    p->total_global_memory = card.global_memory;
    p->shared_memory_per_block = card_attribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p->registers_per_block = card_attribute(ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    p->warp_size = card_attribute(ATTRIBUTE_WARP_SIZE);
    p->memory_pitch = card_attribute(ATTRIBUTE_MAX_PITCH);
    p->max_threads_per_block = card_attribute(ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        p->max_threads_dim[i] = card_attribute(ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        p->max_grid_size[i] = card_attribute(ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    p->clock_rate = card_attribute(ATTRIBUTE_CLOCK_RATE);
    p->total_constant_memory = card_attribute(ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    p->major = card_attribute(ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    p->minor = card_attribute(ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    p->texture_alignment = card_attribute(ATTRIBUTE_TEXTURE_ALIGNMENT);
    p->texture_pitch_alignment = card_attribute(ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
    p->device_overlap = card_attribute(ATTRIBUTE_GPU_OVERLAP);
    p->multiprocessor_count = card_attribute(ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p->can_map_host_memory = card_attribute(ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    p->concurrent_kernels = card_attribute(ATTRIBUTE_CONCURRENT_KERNELS);
    p->ecc_enabled = card_attribute(ATTRIBUTE_ECC_ENABLED);
    p->pci_bus_id = card_attribute(ATTRIBUTE_PCI_BUS_ID);
    p->async_engine_count = card_attribute(ATTRIBUTE_ASYNC_ENGINE_COUNT);
    p->unified_addressing = card_attribute(ATTRIBUTE_UNIFIED_ADDRESSING);
    p->memory_clock_rate = card_attribute(ATTRIBUTE_MEMORY_CLOCK_RATE);
    p->memory_bus_width = card_attribute(ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    p->l2_cache_size = card_attribute(ATTRIBUTE_L2_CACHE_SIZE);
    p->max_threads_per_multiprocessor = card_attribute(ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    p->stream_priorities_supported = card_attribute(ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
    p->global_l1_cache_supported = card_attribute(ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
    p->local_l1_cache_supported = card_attribute(ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
    p->shared_memory_per_multiprocessor = card_attribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    p->registers_per_multiprocessor = card_attribute(ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    p->compute_preemption_supported = card_attribute(ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
    p->cooperative_launch = card_attribute(ATTRIBUTE_COOPERATIVE_LAUNCH);
    p->shared_memory_per_block_optin = card_attribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    p->max_blocks_per_multiprocessor = card_attribute(ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    p->reserved_shared_memory_per_block = card_attribute(ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    p->cluster_launch = card_attribute(ATTRIBUTE_CLUSTER_LAUNCH);
    return SUCCESS;
}

status_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    TRACE();
    snprintf(text, size, "0000:%02x:00.0", PCI_BUS);
    return SUCCESS;
}

/* ---------------------------------------------------------------- versions, choosing, waiting */

status_t cudaDriverGetVersion(int *version)
{
    TRACE();
    *version = CUDA_VERSION;
    return SUCCESS;
}

status_t cudaRuntimeGetVersion(int *version)
{
    TRACE();
    *version = CUDA_VERSION;
    return SUCCESS;
}

status_t cudaGetDeviceCount(int *count)
{
    TRACE();
    *count = 1;
    return SUCCESS;
}

status_t cudaGetDevice(int *device)
{
    TRACE();
    *device = DEVICE;
    return SUCCESS;
}

status_t cudaSetDevice(int device)
{
    TRACE();
    return device == DEVICE ? SUCCESS : INVALID_DEVICE;
}

status_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    TRACE();
    *can = false;
    return SUCCESS;
}

REFUSE(cudaDeviceEnablePeerAccess)
NOOP(cudaDeviceSynchronize)
REFUSE(cudaProfilerStart)
REFUSE(cudaProfilerStop)

/* ---------------------------------------------------------------- errors */

/* No error is kept: each is returned by the call that failed, and none arrives later. */
NOOP(cudaGetLastError)
NOOP(cudaPeekAtLastError)

const char *cudaGetErrorName(status_t status)
{
    return status_name(status);
}

const char *cudaGetErrorString(status_t status)
{
    return status_text(status);
}
