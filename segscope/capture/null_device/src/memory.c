/* Device memory: host memory that is reserved but not committed, so a tensor costs what is written to it. */
#define _GNU_SOURCE
#include "null_device.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4 << 10, ALIGNMENT = 2 << 20 }; /* cudaMalloc aligns large blocks to 2 MiB */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block_t *blocks; /* under lock */
static size_t used;     /* under lock; the sum of their sizes */

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Takes the size from the card's memory; false if it has not so much left. */
static bool reserve(size_t size)
{
    pthread_mutex_lock(&lock);
    bool fits = size <= card.global_memory - used;
    if (fits)
        used += size;
    pthread_mutex_unlock(&lock);
    return fits;
}

static void give_back(size_t size)
{
    pthread_mutex_lock(&lock);
    used -= size;
    pthread_mutex_unlock(&lock);
}

static char *map_aligned(size_t size)
{
    char *mapped = mmap(NULL, size + ALIGNMENT, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    char *start = (char *)round_up((uintptr_t)mapped, ALIGNMENT);
    size_t before = start - mapped;
    if (before > 0)
        munmap(mapped, before);
    munmap(start + size, ALIGNMENT - before);
    return start;
}

status_t device_malloc(void **pointer, size_t size)
{
    *pointer = NULL;
    if (size == 0)
        return SUCCESS;
    if (size > card.global_memory)
        return OUT_OF_MEMORY;
    size = round_up(size, PAGE);
    if (!reserve(size))
        return OUT_OF_MEMORY;
    block_t *block = malloc(sizeof *block);
    char *start = block == NULL ? NULL : map_aligned(size);
    if (start == NULL) {
        free(block);
        give_back(size);
        return OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    *block = (block_t){start, size, blocks};
    blocks = block;
    pthread_mutex_unlock(&lock);
    *pointer = start;
    return SUCCESS;
}

status_t device_free(void *pointer)
{
    if (pointer == NULL)
        return SUCCESS;
    pthread_mutex_lock(&lock);
    block_t **link = &blocks;
    while (*link != NULL && (*link)->start != pointer)
        link = &(*link)->next;
    block_t *block = *link;
    if (block != NULL) {
        *link = block->next;
        used -= block->size;
        munmap(block->start, block->size);
    }
    pthread_mutex_unlock(&lock);
    free(block);
    return block == NULL ? INVALID_VALUE : SUCCESS;
}

bool device_owns(const void *address, block_t *found)
{
    pthread_mutex_lock(&lock);
    const block_t *block = blocks;
    while (block != NULL &&
           ((const char *)address < block->start || (const char *)address >= block->start + block->size))
        block = block->next;
    if (block != NULL && found != NULL)
        *found = *block;
    pthread_mutex_unlock(&lock);
    return block != NULL;
}

/* ---------------------------------------------------------------- allocation */

status_t cudaMalloc(void **pointer, size_t size)
{
    TRACE();
    return device_malloc(pointer, size);
}

status_t cudaMallocAsync(void **pointer, size_t size, void *stream)
{
    TRACE();
    return device_malloc(pointer, size);
}

status_t cudaFree(void *pointer)
{
    TRACE();
    return device_free(pointer);
}

status_t cudaFreeAsync(void *pointer, void *stream)
{
    TRACE();
    return device_free(pointer);
}

status_t cudaMemGetInfo(size_t *available, size_t *total)
{
    TRACE();
    pthread_mutex_lock(&lock);
    *available = card.global_memory - used;
    pthread_mutex_unlock(&lock);
    *total = card.global_memory;
    return SUCCESS;
}

status_t cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    TRACE();
    *pointer = aligned_alloc(PAGE, round_up(size, PAGE));
    return *pointer == NULL ? OUT_OF_MEMORY : SUCCESS;
}

status_t cudaFreeHost(void *pointer)
{
    TRACE();
    free(pointer);
    return SUCCESS;
}

status_t cudaHostGetDevicePointer(void **device_pointer, void *host_pointer, unsigned flags)
{
    TRACE();
    *device_pointer = host_pointer;
    return SUCCESS;
}

NOOP(cudaHostRegister)
NOOP(cudaHostUnregister)

REFUSE(cudaDeviceGetDefaultMemPool)
REFUSE(cudaMemPoolGetAttribute)
REFUSE(cudaMemPoolSetAccess)
REFUSE(cudaMemPoolSetAttribute)
REFUSE(cudaMemPoolTrimTo)

REFUSE(cudaIpcGetMemHandle)
REFUSE(cudaIpcOpenMemHandle)
REFUSE(cudaIpcCloseMemHandle)

/* ---------------------------------------------------------------- copies */

status_t cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
    TRACE();
    memmove(to, from, size);
    return SUCCESS;
}

status_t cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    TRACE();
    memmove(to, from, size);
    return SUCCESS;
}

status_t cudaMemcpy2DAsync(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width,
                           size_t height, int kind, void *stream)
{
    TRACE();
    for (size_t row = 0; row < height; row++)
        memmove(to + row * to_pitch, from + row * from_pitch, width);
    return SUCCESS;
}

/* CUDA 12.8's form, of all its parameters only those that are read here. */
status_t cudaMemcpyBatchAsync(void **to, void **from, const size_t *sizes, size_t count)
{
    TRACE();
    for (size_t i = 0; i < count; i++)
        memmove(to[i], from[i], sizes[i]);
    return SUCCESS;
}

status_t cudaMemset(void *to, int byte, size_t size)
{
    TRACE();
    memset(to, byte, size);
    return SUCCESS;
}

status_t cudaMemsetAsync(void *to, int byte, size_t size, void *stream)
{
    TRACE();
    memset(to, byte, size);
    return SUCCESS;
}

REFUSE(cudaMemcpyPeerAsync)

/* Device variables are read by kernels only, and no kernel runs. */
NOOP(cudaMemcpyToSymbol)
REFUSE(cudaGetSymbolAddress)

/* ---------------------------------------------------------------- pointers */

enum { MEMORY_TYPE_UNREGISTERED = 0, MEMORY_TYPE_DEVICE = 2 };

struct pointer_attributes {
    int type;
    int device;
    void *device_pointer;
    void *host_pointer;
};

status_t cudaPointerGetAttributes(struct pointer_attributes *attributes, void *pointer)
{
    TRACE();
    bool owned = device_owns(pointer, NULL);
    *attributes = (struct pointer_attributes){
        .type = owned ? MEMORY_TYPE_DEVICE : MEMORY_TYPE_UNREGISTERED,
        .device = DEVICE,
        .device_pointer = owned ? pointer : NULL,
    };
    return SUCCESS;
}
