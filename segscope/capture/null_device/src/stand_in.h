/* A stand-in for a CUDA library that is not installed consists of these three kinds of functions, as stand_ins.py
 * lists them. They take any arguments; what has to answer more is in stand_in_answers.c and goes before them. */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAND_IN_HANDLE ((void *)0x60) /* only ever handed back */

static inline void stand_in_called(const char *name)
{
    const char *trace = getenv("SEGSCOPE_NULL_TRACE");
    if (trace != NULL && strcmp(trace, "1") == 0)
        fprintf(stderr, "segscope stand-in: %s\n", name);
}

#define SUCCEEDS(name)                                                                                       \
    __attribute__((weak)) int name(void)                                                                     \
    {                                                                                                        \
        stand_in_called(#name);                                                                              \
        return 0;                                                                                            \
    }

#define CREATES(name)                                                                                        \
    __attribute__((weak)) int name(void **handle)                                                            \
    {                                                                                                        \
        stand_in_called(#name);                                                                              \
        *handle = STAND_IN_HANDLE;                                                                           \
        return 0;                                                                                            \
    }

#define ABORTS(library, name)                                                                                \
    __attribute__((weak)) void name(void)                                                                    \
    {                                                                                                        \
        fprintf(stderr, "segscope stand-in: %s was called, and " library " is not installed\n", #name);      \
        abort();                                                                                             \
    }

#endif
