/* The run-time compiler (libnvrtc.so.12): every program compiles, to a few zero bytes that are never run. */
#include "null_device.h"

#include <string.h>

/* nvrtcResult has numbers of its own; only NVRTC_SUCCESS, 0, is ever returned. */

#define PROGRAM HANDLE(0x50)

enum { CODE_SIZE = 8 };

status_t nvrtcVersion(int *major, int *minor)
{
    TRACE();
    *major = CUDA_MAJOR;
    *minor = CUDA_MINOR;
    return SUCCESS;
}

const char *nvrtcGetErrorString(int result)
{
    return result == SUCCESS ? "NVRTC_SUCCESS" : "not an error of the null device";
}

status_t nvrtcCreateProgram(void **program)
{
    TRACE();
    *program = PROGRAM;
    return SUCCESS;
}

status_t nvrtcDestroyProgram(void **program)
{
    TRACE();
    *program = NULL;
    return SUCCESS;
}

NOOP(nvrtcAddNameExpression)
NOOP(nvrtcCompileProgram)

/* A kernel is called as it is written, not mangled, and so found under that name in the log of launches. */
status_t nvrtcGetLoweredName(void *program, const char *expression, const char **name)
{
    TRACE();
    *name = expression;
    return SUCCESS;
}

status_t nvrtcGetPTXSize(void *program, size_t *size)
{
    TRACE();
    *size = CODE_SIZE;
    return SUCCESS;
}

status_t nvrtcGetPTX(void *program, char *code)
{
    TRACE();
    memset(code, 0, CODE_SIZE);
    return SUCCESS;
}

status_t nvrtcGetCUBINSize(void *program, size_t *size)
{
    TRACE();
    *size = CODE_SIZE;
    return SUCCESS;
}

status_t nvrtcGetCUBIN(void *program, char *code)
{
    TRACE();
    memset(code, 0, CODE_SIZE);
    return SUCCESS;
}

/* The log is the empty string; its size counts the end. */
status_t nvrtcGetProgramLogSize(void *program, size_t *size)
{
    TRACE();
    *size = 1;
    return SUCCESS;
}

status_t nvrtcGetProgramLog(void *program, char *log)
{
    TRACE();
    *log = '\0';
    return SUCCESS;
}
