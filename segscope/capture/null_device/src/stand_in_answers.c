/* The functions of missing CUDA libraries that cannot just answer "success". They are linked into every stand-in;
 * each exports those of its own library. */
#include "stand_in.h"

#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- cuBLAS, cuFFT */

int cublasGetPointerMode_v2(void *handle, int *mode)
{
    stand_in_called(__func__);
    *mode = 0;
    return 0;
}

int cublasGetMathMode(void *handle, int *mode)
{
    stand_in_called(__func__);
    *mode = 0;
    return 0;
}

const char *cublasGetStatusString(int status)
{
    return "stand-in for cuBLAS";
}

size_t cublasLtGetVersion(void)
{
    return 120803;
}

enum { HEURISTIC_RESULT_SIZE = 96 }; /* sizeof(cublasLtMatmulHeuristicResult_t) */

/* One way to multiply is found, with nothing in it: torch refuses to multiply if there is none. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c, void *d,
                                   void *preference, int wanted, void *results, int *found)
{
    stand_in_called(__func__);
    memset(results, 0, HEURISTIC_RESULT_SIZE);
    *found = 1;
    return 0;
}

/* cuFFT's handles are ints. */
int cufftCreate(int *plan)
{
    stand_in_called(__func__);
    *plan = 1;
    return 0;
}

/* ---------------------------------------------------------------- cuDNN */

/* 9.10.2: torch takes a newer cuDNN 9 than that which it is built for. */
size_t cudnnGetVersion(void)
{
    return 91002;
}

size_t cudnnGetCudartVersion(void)
{
    return 12080;
}

const char *cudnnGetErrorString(int status)
{
    return "stand-in for cuDNN";
}

int cudnnBackendCreateDescriptor(int type, void **descriptor)
{
    stand_in_called(__func__);
    *descriptor = STAND_IN_HANDLE;
    return 0;
}

/* No attribute has an element: torch then finds no way to convolve, and says so. */
int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t wanted, int64_t *count, void *elements)
{
    stand_in_called(__func__);
    if (count != NULL)
        *count = 0;
    return 0;
}
