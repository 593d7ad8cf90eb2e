/* The card that the null device plays, read from the environment before anything else runs. */
#include "null_device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

card_t card;

static const char VARIABLE[] = "SEGSCOPE_NULL_CARD";

enum { EXIT_NO_CARD = 127 };

#define NUMBER(field) {#field, offsetof(card_t, field)}

static const struct {
    const char *key;
    size_t offset;
} NUMBERS[] = {
    NUMBER(compute_capability),
    NUMBER(multiprocessors),
    NUMBER(shared_memory_per_multiprocessor),
    NUMBER(shared_memory_per_block_optin),
    NUMBER(l2_cache),
    NUMBER(clock_rate),
    NUMBER(memory_clock_rate),
    NUMBER(memory_bus_width),
    NUMBER(global_memory),
    NUMBER(max_threads_per_multiprocessor),
    NUMBER(max_blocks_per_multiprocessor),
};

enum { NUMBER_COUNT = sizeof NUMBERS / sizeof *NUMBERS };

static size_t *number(int i)
{
    return (size_t *)((char *)&card + NUMBERS[i].offset);
}

static bool set_field(const char *key, const char *value)
{
    if (strcmp(key, "name") == 0) {
        snprintf(card.name, sizeof card.name, "%s", value);
        return true;
    }
    for (int i = 0; i < NUMBER_COUNT; i++) {
        if (strcmp(key, NUMBERS[i].key) != 0)
            continue;
        char *end;
        *number(i) = strtoull(value, &end, 10);
        return isdigit((unsigned char)value[0]) && *end == '\0';
    }
    return false;
}

static _Noreturn void refuse_to_start(const char *what, const char *where)
{
    say("%s: %s%s; the null device is started by segscope only", VARIABLE, what, where);
    _exit(EXIT_NO_CARD);
}

/* Ends a process that loads this library without a card: it must never pass for a GPU by accident. Programs that
 * such a process starts inherit the variable together with LD_PRELOAD. */
__attribute__((constructor)) static void read_card(void)
{
    const char *value = getenv(VARIABLE);
    if (value == NULL)
        refuse_to_start("not set", "");
    char *copy = strdup(value), *rest = copy, *field;
    while ((field = strsep(&rest, ";")) != NULL) {
        char *equals = strchr(field, '=');
        if (equals == NULL)
            refuse_to_start("not key=value: ", field);
        *equals = '\0';
        if (!set_field(field, equals + 1))
            refuse_to_start("bad field: ", field);
    }
    free(copy);
    if (card.name[0] == '\0')
        refuse_to_start("missing: ", "name");
    for (int i = 0; i < NUMBER_COUNT; i++)
        if (*number(i) == 0)
            refuse_to_start("missing: ", NUMBERS[i].key);
}
