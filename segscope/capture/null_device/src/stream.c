/* Streams, events and graphs. All work is done when the call that asks for it returns, so nothing has to wait. */
#include "null_device.h"

/* A handle that no other stream or event has; nothing lies behind it. */
static void *new_handle(void)
{
    enum { FIRST = 0x1000, STEP = 0x10 }; /* clear of the few small numbers that CUDA gives a meaning */
    static size_t last = FIRST;
    return HANDLE(__atomic_add_fetch(&last, STEP, __ATOMIC_RELAXED));
}

/* ---------------------------------------------------------------- streams */

enum { HIGHEST_PRIORITY = -5, LOWEST_PRIORITY = 0 };

status_t cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
    TRACE();
    *lowest = LOWEST_PRIORITY;
    *highest = HIGHEST_PRIORITY;
    return SUCCESS;
}

status_t cudaStreamCreate(void **stream)
{
    TRACE();
    *stream = new_handle();
    return SUCCESS;
}

status_t cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    TRACE();
    *stream = new_handle();
    return SUCCESS;
}

status_t cudaStreamGetPriority(void *stream, int *priority)
{
    TRACE();
    *priority = LOWEST_PRIORITY;
    return SUCCESS;
}

status_t cudaStreamAddCallback(void *stream, void (*callback)(void *, status_t, void *), void *data,
                               unsigned flags)
{
    TRACE();
    callback(stream, SUCCESS, data);
    return SUCCESS;
}

status_t cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    TRACE();
    function(data);
    return SUCCESS;
}

NOOP(cudaStreamDestroy)
NOOP(cudaStreamQuery)
NOOP(cudaStreamSynchronize)
NOOP(cudaStreamWaitEvent)

/* ---------------------------------------------------------------- events */

status_t cudaEventCreate(void **event)
{
    TRACE();
    *event = new_handle();
    return SUCCESS;
}

status_t cudaEventCreateWithFlags(void **event, unsigned flags)
{
    TRACE();
    *event = new_handle();
    return SUCCESS;
}

NOOP(cudaEventDestroy)
NOOP(cudaEventQuery)
NOOP(cudaEventRecord)
NOOP(cudaEventRecordWithFlags)
NOOP(cudaEventSynchronize)

/* A time would be that of no kernel. */
REFUSE(cudaEventElapsedTime)

REFUSE(cudaIpcGetEventHandle)
REFUSE(cudaIpcOpenEventHandle)

/* ---------------------------------------------------------------- capturing into graphs */

enum { CAPTURE_STATUS_NONE = 0 };

status_t cudaStreamIsCapturing(void *stream, int *capture_status)
{
    TRACE();
    *capture_status = CAPTURE_STATUS_NONE;
    return SUCCESS;
}

/* Its further results are defined only while a capture is under way. */
status_t cudaStreamGetCaptureInfo_v2(void *stream, int *capture_status)
{
    TRACE();
    *capture_status = CAPTURE_STATUS_NONE;
    return SUCCESS;
}

/* torch exchanges the mode around every allocation. Without captures the mode has no effect, so it stays. */
NOOP(cudaThreadExchangeStreamCaptureMode)

REFUSE(cudaStreamBeginCapture)
REFUSE(cudaStreamEndCapture)
REFUSE(cudaStreamUpdateCaptureDependencies) /* torch 2.9 */
REFUSE(cudaGraphAddEmptyNode)               /* torch 2.9 */
REFUSE(cudaGraphDebugDotPrint)
REFUSE(cudaGraphDestroy)
REFUSE(cudaGraphExecDestroy)
REFUSE(cudaGraphGetNodes)
REFUSE(cudaGraphInstantiate)
REFUSE(cudaGraphInstantiateWithFlags)
REFUSE(cudaGraphLaunch)
REFUSE(cudaGraphNodeGetDependencies)
REFUSE(cudaGraphNodeGetType) /* torch 2.9 */
