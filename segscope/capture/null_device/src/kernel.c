/* The runtime's kernels: registered, asked about, launched, and never run; and the log of all launches. */
#define _GNU_SOURCE
#include "null_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
void __cudaRegisterVar(void) {}

typedef struct kernel {
    const void *stub; /* the host function that it is launched by */
    const char *name; /* mangled; it lies in the library that registers it */
} kernel_t;

static kernel_t *kernels; /* under lock */
static size_t kernel_count, kernel_room;

/* Of its ten parameters only those that are read here. A kernel for which there is no memory stays unknown. */
void __cudaRegisterFunction(void **handle, const void *stub, char *device_stub, const char *name)
{
    enum { FIRST_ROOM = 1024 };
    pthread_mutex_lock(&lock);
    if (kernel_count == kernel_room) {
        size_t room = kernel_room == 0 ? FIRST_ROOM : 2 * kernel_room;
        kernel_t *grown = realloc(kernels, room * sizeof *kernels);
        if (grown != NULL) {
            kernels = grown;
            kernel_room = room;
        }
    }
    if (kernel_count < kernel_room)
        kernels[kernel_count++] = (kernel_t){stub, name};
    pthread_mutex_unlock(&lock);
}

/* The latest first: the address may have been that of a kernel in a library that is no longer loaded. */
static const char *kernel_name(const void *stub)
{
    const char *name = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = kernel_count; i > 0 && name == NULL; i--)
        if (kernels[i - 1].stub == stub)
            name = kernels[i - 1].name;
    pthread_mutex_unlock(&lock);
    return name == NULL ? "unregistered kernel" : name;
}

/* ---------------------------------------------------------------- the log of launches */

static FILE *launches;    /* changed under lock; NULL while nothing is logged */
static char *launch_text; /* under lock; what went into it, once it is closed */
static size_t launch_size;

static bool logging(void)
{
    return __atomic_load_n(&launches, __ATOMIC_RELAXED) != NULL;
}

/* Closes the log, under lock; false if it is not whole. */
static bool close_launches(void)
{
    FILE *closing = launches;
    __atomic_store_n(&launches, NULL, __ATOMIC_RELAXED);
    if (closing == NULL)
        return false;
    bool whole = !ferror(closing);
    return fclose(closing) == 0 && whole;
}

/* Begins an empty log. */
void segscope_null_launches_start(void)
{
    pthread_mutex_lock(&lock);
    close_launches();
    free(launch_text);
    launch_text = NULL;
    __atomic_store_n(&launches, open_memstream(&launch_text, &launch_size), __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

/* Ends the log. Returns the names of the kernels that were launched since it began, in order, each with a newline;
 * NULL if none was begun or memory ran out. The text stays until the next log begins. */
const char *segscope_null_launches_stop(void)
{
    pthread_mutex_lock(&lock);
    bool whole = close_launches();
    pthread_mutex_unlock(&lock);
    return whole ? launch_text : NULL;
}

void log_launch(const char *name)
{
    if (!logging())
        return;
    pthread_mutex_lock(&lock);
    if (launches != NULL)
        fprintf(launches, "%s\n", name);
    pthread_mutex_unlock(&lock);
}

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

status_t cudaLaunchKernel(const void *stub)
{
    TRACE();
    if (logging())
        log_launch(kernel_name(stub));
    return SUCCESS;
}

status_t cudaLaunchKernelExC(const void *configuration, const void *stub)
{
    TRACE();
    if (logging())
        log_launch(kernel_name(stub));
    return SUCCESS;
}

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
