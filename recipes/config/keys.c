/* Keys, in the order of their names.
 *
 * How it can fail: a child that is not `ready` counts as a key, whoever has
 * made it. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/config/config_internal.h"

static int compare_names(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

void evzk__config_sort(struct evzk__read_all *all)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < all->n; i++) {
        if (strcmp(all->names[i], EVZK__CONFIG_READY) != 0)
            all->names[n++] = all->names[i];
    }
    all->n = n;
    if (n > 0)
        qsort(all->names, n, sizeof all->names[0], compare_names);
}

bool evzk__config_has(const struct evzk__read_all *all, const char *name)
{
    return all->n > 0 && bsearch(&name, all->names, all->n,
                                 sizeof all->names[0], compare_names) != NULL;
}

static int compare_keys(const void *a, const void *b)
{
    const evzk_config_key *x = a, *y = b;

    return strcmp(x->name, y->name);
}

evzk_config_key *evzk__config_copy(const evzk_config_key *key, size_t n)
{
    size_t head = n * sizeof *key, bytes = 0;
    evzk_config_key *copy;
    char *at;

    for (size_t i = 0; i < n; i++)
        bytes += strlen(key[i].name) + 1 + key[i].len;
    copy = evzk__zalloc(head + bytes + 1);
    if (!copy)
        return NULL;
    at = (char *)copy + head;
    for (size_t i = 0; i < n; i++) {
        copy[i] = (evzk_config_key){at, NULL, key[i].len};
        at = stpcpy(at, key[i].name) + 1;
        copy[i].data = at;
        if (key[i].len)
            memcpy(at, key[i].data, key[i].len);
        at += key[i].len;
    }
    if (n > 0)
        qsort(copy, n, sizeof *copy, compare_keys);
    return copy;
}

bool evzk__config_has_twice(const evzk_config_key *key, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (strcmp(key[i - 1].name, key[i].name) == 0)
            return true;
    }
    return false;
}

const evzk_config_key *evzk_config_find(const evzk_config *config,
                                        const char *name)
{
    evzk_config_key key = {.name = name};

    if (!config || !name || config->n == 0)
        return NULL;
    return bsearch(&key, config->key, config->n, sizeof key, compare_keys);
}
