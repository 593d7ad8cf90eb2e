/* What the null device says on stderr, and the names and texts of its errors. */
#include "null_device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tracing;

__attribute__((constructor)) static void read_trace_switch(void)
{
    const char *value = getenv("SEGSCOPE_NULL_TRACE");
    tracing = value != NULL && strcmp(value, "1") == 0;
}

void say(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "segscope null device: %s\n", text); /* one call, so that threads do not mix their lines */
}

static const struct {
    status_t status;
    const char *name;
    const char *text;
} STATUSES[] = {
    {SUCCESS, "cudaSuccess", "no error"},
    {INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument (null device)"},
    {OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory (null device)"},
    {INVALID_DEVICE, "cudaErrorInvalidDevice", "the null device is one device, number 0"},
    {NOT_FOUND, "cudaErrorSymbolNotFound", "named symbol not found (null device)"},
    {NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported by the null device"},
};

const char *status_name(status_t status)
{
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++)
        if (STATUSES[i].status == status)
            return STATUSES[i].name;
    return "cudaErrorUnknown";
}

const char *status_text(status_t status)
{
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++)
        if (STATUSES[i].status == status)
            return STATUSES[i].text;
    return "not an error of the null device";
}
