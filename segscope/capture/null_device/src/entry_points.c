/* Driver functions asked for by name: cudaGetDriverEntryPoint and cuGetProcAddress. */
#define _GNU_SOURCE
#include "null_device.h"

#include <dlfcn.h>
#include <stdio.h>

static status_t refuse(void)
{
    TRACE();
    return NOT_SUPPORTED;
}

static void *own_function(const char *name)
{
    Dl_info self;
    if (dladdr((void *)refuse, &self) == 0)
        return NULL;
    void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    void *function = dlsym(library, name);
    dlclose(library); /* only undoes the count of dlopen: this library stays */
    return function;
}

/* Names come without the suffix of the ABI: cuMemAlloc means cuMemAlloc_v2. torch and nvFuser take a name that is not
 * found for a broken driver, and often ask for functions that they will not call. So an unknown name gets a function
 * that refuses. */
static void *entry_point(const char *name)
{
    char second[128];
    snprintf(second, sizeof second, "%s_v2", name);
    void *function = own_function(second);
    if (function == NULL)
        function = own_function(name);
    if (tracing)
        say("entry point %s: %s", name, function == NULL ? "refuses" : "found");
    return function == NULL ? (void *)refuse : function;
}

enum { ENTRY_POINT_FOUND = 0 };

status_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *result)
{
    *function = entry_point(name);
    if (result != NULL)
        *result = ENTRY_POINT_FOUND;
    return SUCCESS;
}

status_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                          unsigned long long flags, int *result)
{
    return cudaGetDriverEntryPoint(name, function, flags, result);
}

status_t cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags,
                             int *result)
{
    return cudaGetDriverEntryPoint(name, function, flags, result);
}

/* As CUDA 11 had it, without the result. */
status_t cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags)
{
    return cudaGetDriverEntryPoint(name, function, flags, NULL);
}
