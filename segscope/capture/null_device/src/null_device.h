/* The null device: a stand-in for the CUDA runtime, driver and run-time compiler on a machine with no GPU.
 *
 * nvFuser decides how to cut a fusion on the host; all it needs of a GPU is answers. Device memory here is host
 * memory, a copy is a memmove, a kernel launch does nothing, and what would need a real device (timing, graphs,
 * sharing between processes or devices) is refused.
 *
 * To add a function: put it in the file of its API group, with TRACE() as its first statement. exports.map makes
 * it visible, and a driver function is then found by name too (entry_points.c). To add a card: see ../cards.toml.
 *
 * Which functions are here: those that torch 2.3 to 2.10 and nvFuser 0.2.8 to 0.2.36 link to, those that they
 * and Triton look up by name, and no others. A function that nothing calls on one GPU is refused in one line.
 *
 * Functions written with NOOP and REFUSE take any arguments: in the x86-64 calling convention the caller owns
 * the arguments, so a function that ignores them need not declare them.
 */
#ifndef NULL_DEVICE_H
#define NULL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

/* The runtime's cudaError_t and the driver's CUresult have the same numbers for all of these. */
typedef enum status {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    NOT_FOUND = 500,
    NOT_SUPPORTED = 801,
} status_t;

/* CUDA 12.8, the newest that a supported build of nvFuser is made with; older builds accept a newer CUDA 12. */
enum { CUDA_MAJOR = 12, CUDA_MINOR = 8, CUDA_VERSION = CUDA_MAJOR * 1000 + CUDA_MINOR * 10 };

/* The one device is number 0; handles that nobody looks into are made-up addresses. */
#define DEVICE 0
#define HANDLE(number) ((void *)(size_t)(number))

/* ---------------------------------------------------------------- the card (card.c) */

/* What differs from card to card, from SEGSCOPE_NULL_CARD. The names are the keys in that variable. */
typedef struct card {
    char name[128];
    size_t compute_capability; /* 10 * major + minor */
    size_t multiprocessors;
    size_t shared_memory_per_multiprocessor; /* bytes */
    size_t shared_memory_per_block_optin;    /* bytes */
    size_t l2_cache;                         /* bytes */
    size_t clock_rate;                       /* kHz */
    size_t memory_clock_rate;                /* kHz */
    size_t memory_bus_width;                 /* bits */
    size_t global_memory;                    /* bytes */
    size_t max_threads_per_multiprocessor;
    size_t max_blocks_per_multiprocessor;
} card_t;

extern card_t card;

/* ---------------------------------------------------------------- the device (device.c) */

/* What all cards since compute capability 8.0 share: CUDA C++ Programming Guide, "Technical Specifications per
 * Compute Capability". */
enum {
    WARP_SIZE = 32,
    MAX_THREADS_PER_BLOCK = 1024,
    MAX_BLOCK_DIM_XY = 1024,
    MAX_BLOCK_DIM_Z = 64,
    MAX_GRID_DIM_X = 2147483647,
    MAX_GRID_DIM_YZ = 65535,
    REGISTERS = 65536, /* per multiprocessor, and per block */
    SHARED_MEMORY_PER_BLOCK = 48 << 10,
    RESERVED_SHARED_MEMORY_PER_BLOCK = 1 << 10,
    CONSTANT_MEMORY = 64 << 10,
    CLUSTER_COMPUTE_CAPABILITY = 90, /* the first with thread block clusters */
};

enum { UUID_SIZE = 16, MADE_UP_UUID_BYTE = 0x11 };

/* The value of a device attribute; 0 for one that is not listed, which means "no" or "none". */
int card_attribute(int attribute);

/* ---------------------------------------------------------------- memory (memory.c) */

typedef struct block {
    char *start;
    size_t size;
    struct block *next;
} block_t;

status_t device_malloc(void **pointer, size_t size);
status_t device_free(void *pointer);

/* Whether the address lies in device memory; if so, *found is a copy of its block (found may be NULL). */
bool device_owns(const void *address, block_t *found);

/* ---------------------------------------------------------------- kernels (kernel.c) */

/* What is said of every kernel, since none is compiled: a guess that nvFuser's own heuristics often make too. */
enum { ASSUMED_REGISTERS_PER_THREAD = 32 };

int resident_blocks(int threads, size_t dynamic_shared_memory);
int resident_clusters(void);
size_t shared_memory_left(int blocks);

/* Notes a launch, if someone asked for the log: launches.py does, by the two functions behind it. */
void log_launch(const char *name);

/* ---------------------------------------------------------------- what is said (report.c) */

extern bool tracing; /* SEGSCOPE_NULL_TRACE=1 */

/* Writes one line to stderr, behind the name of this library. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

const char *status_name(status_t status);
const char *status_text(status_t status);

#define TRACE()                                                                                              \
    do {                                                                                                     \
        if (tracing)                                                                                         \
            say("%s", __func__);                                                                             \
    } while (0)

/* Says once per function that its answer comes from no card; a capture records the line. */
#define INVENTED()                                                                                           \
    do {                                                                                                     \
        static bool said;                                                                                    \
        if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))                                             \
            say("invented answer: %s", __func__);                                                            \
    } while (0)

/* ---------------------------------------------------------------- how functions are defined */

#define NOOP(name)                                                                                           \
    status_t name(void)                                                                                      \
    {                                                                                                        \
        TRACE();                                                                                             \
        return SUCCESS;                                                                                      \
    }

#define REFUSE(name)                                                                                         \
    status_t name(void)                                                                                      \
    {                                                                                                        \
        TRACE();                                                                                             \
        return NOT_SUPPORTED;                                                                                \
    }

#endif
