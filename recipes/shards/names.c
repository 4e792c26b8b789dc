/* The names of shards.
 *
 * Each process may list them in another order.  So the library sorts them:
 * shard i is the i-th name in the order of bytes, in every process with the
 * same names.  Plans and members carry a fingerprint of the sorted names, so
 * that a member with other names does not take a plan for its own.
 *
 * How it can fail.  Two lists may have the same fingerprint (FNV-1a, 64 bits;
 * no protection against a program that wants that).  Then a number stands for
 * two names, and a shard may have no leader.  Never two: each election is that
 * of a name.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "recipes/shards/shards_internal.h"

const char *evzk__shard_name_fault(const char *name)
{
    char path[EVZK_SHARDS_NAME_MAX + 2] = "/";

    if (!name)
        return "must have no NULL";
    if (!name[0] || strlen(name) > EVZK_SHARDS_NAME_MAX)
        return "must each have 1 to EVZK_SHARDS_NAME_MAX bytes";
    if (strchr(name, '/'))
        return "must have no slash";
    strcpy(path + 1, name);
    return evzk__path_fault(path);
}

static int in_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **evzk__shard_names_copy(const char *const *names, uint32_t n)
{
    size_t size = n * sizeof(char *);
    char **copy, *to;

    for (uint32_t i = 0; i < n; i++)
        size += strlen(names[i]) + 1;
    copy = evzk__zalloc(size);
    if (!copy)
        return NULL;
    to = (char *)(copy + n);
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = to;
        to = stpcpy(to, names[i]) + 1;
    }
    qsort(copy, n, sizeof *copy, in_order);
    return copy;
}

bool evzk__shard_names_differ(char *const *names, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return false;
    }
    return true;
}

/* Each name with the zero byte at its end. */
uint64_t evzk__shard_names_print(char *const *names, uint32_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (uint32_t i = 0; i < n; i++) {
        const char *c = names[i];

        do
            h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
        while (*c++);
    }
    return h ? h : 1; /* 0: there are no names. */
}

const char *evzk_shards_name(const evzk_shards *a, uint32_t shard)
{
    return a && a->names && shard < a->count ? a->names[shard] : NULL;
}

bool evzk_shards_index(const evzk_shards *a, const char *name, uint32_t *out)
{
    char *const *at;

    if (!a || !a->names || !name || !out)
        return false;
    at = bsearch(&name, a->names, a->count, sizeof *a->names, in_order);
    if (at)
        *out = (uint32_t)(at - a->names);
    return at != NULL;
}
