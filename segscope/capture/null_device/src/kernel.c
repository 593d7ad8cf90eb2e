/* The runtime's kernels: registered, asked about, launched, and never run. */
#include "null_device.h"

#include <string.h>

/* ---------------------------------------------------------------- registration */

/* What nvcc makes every library with kernels call while it is loaded: tens of thousands of calls, so untraced. */

void **__cudaRegisterFatBinary(void *fat_binary)
{
    static void *handle[1];
    return handle;
}

char __cudaInitModule(void **handle)
{
    return true;
}

void __cudaRegisterFatBinaryEnd(void) {}
void __cudaUnregisterFatBinary(void) {}
void __cudaRegisterFunction(void) {}
void __cudaRegisterVar(void) {}

/* ---------------------------------------------------------------- launch */

typedef struct dim3 {
    unsigned x, y, z;
} dim3_t;

/* `kernel<<<grid, block, shared, stream>>>(...)` pushes; the kernel's host stub pops and launches. */
static _Thread_local struct {
    dim3_t grid, block;
    size_t shared_memory;
    void *stream;
} pushed;

unsigned __cudaPushCallConfiguration(dim3_t grid, dim3_t block, size_t shared_memory, void *stream)
{
    pushed.grid = grid;
    pushed.block = block;
    pushed.shared_memory = shared_memory;
    pushed.stream = stream;
    return SUCCESS;
}

status_t __cudaPopCallConfiguration(dim3_t *grid, dim3_t *block, size_t *shared_memory, void **stream)
{
    *grid = pushed.grid;
    *block = pushed.block;
    *shared_memory = pushed.shared_memory;
    *stream = pushed.stream;
    return SUCCESS;
}

NOOP(cudaLaunchKernel)
NOOP(cudaLaunchKernelExC)

/* ---------------------------------------------------------------- attributes */

struct function_attributes {
    size_t static_shared_memory;
    size_t constant_memory;
    size_t local_memory;
    int max_threads_per_block;
    int registers;
    int ptx_version;
    int binary_version;
    int cache_mode;
    int max_dynamic_shared_memory;
    int preferred_shared_memory_carveout;
    int cluster[6];
    int reserved[16];
};

_Static_assert(sizeof(struct function_attributes) == 144, "sizeof(cudaFuncAttributes) in CUDA 12");

status_t cudaFuncGetAttributes(struct function_attributes *attributes, const void *function)
{
    TRACE();
    memset(attributes, 0, sizeof *attributes);
    attributes->max_threads_per_block = MAX_THREADS_PER_BLOCK;
    attributes->registers = ASSUMED_REGISTERS_PER_THREAD;
    attributes->ptx_version = card.compute_capability;
    attributes->binary_version = card.compute_capability;
    attributes->max_dynamic_shared_memory = SHARED_MEMORY_PER_BLOCK;
    return SUCCESS;
}

NOOP(cudaFuncSetAttribute)

/* ---------------------------------------------------------------- occupancy */

static int least(int a, int b)
{
    return a < b ? a : b;
}

int resident_blocks(int threads, size_t dynamic_shared_memory)
{
    if (threads <= 0)
        return 0;
    int whole_warps = (threads + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
    int blocks = least(card.max_blocks_per_multiprocessor, card.max_threads_per_multiprocessor / whole_warps);
    blocks = least(blocks, REGISTERS / (whole_warps * ASSUMED_REGISTERS_PER_THREAD));
    if (dynamic_shared_memory > 0) {
        size_t per_block = dynamic_shared_memory + RESERVED_SHARED_MEMORY_PER_BLOCK;
        blocks = least(blocks, card.shared_memory_per_multiprocessor / per_block);
    }
    return blocks;
}

size_t shared_memory_left(int blocks)
{
    if (blocks <= 0)
        return 0;
    size_t per_block = card.shared_memory_per_multiprocessor / blocks;
    return per_block > RESERVED_SHARED_MEMORY_PER_BLOCK ? per_block - RESERVED_SHARED_MEMORY_PER_BLOCK : 0;
}

/* As if clusters were of two blocks, one block a multiprocessor. How many really fit depends on the kernel and on
 * how a card's multiprocessors are grouped, which no table gives. */
int resident_clusters(void)
{
    return card.multiprocessors / 2;
}

status_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                size_t dynamic_shared_memory, unsigned flags)
{
    TRACE();
    *blocks = resident_blocks(threads, dynamic_shared_memory);
    return SUCCESS;
}

/* The next two: nvFuser 0.2.28 to 0.2.33 link to them. */

status_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const void *configuration)
{
    TRACE();
    INVENTED();
    *clusters = resident_clusters();
    return SUCCESS;
}

status_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, const void *function, int blocks, int threads)
{
    TRACE();
    *size = shared_memory_left(blocks);
    return SUCCESS;
}
