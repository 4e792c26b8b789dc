/* Allocation, through functions that the application can replace. */
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "evzk/session.h"

static struct {
    void *(*malloc_fn)(size_t);
    void *(*realloc_fn)(void *, size_t);
    void (*free_fn)(void *);
} fns = {malloc, realloc, free};

void evzk_set_allocator(void *(*malloc_fn)(size_t),
                        void *(*realloc_fn)(void *, size_t),
                        void (*free_fn)(void *))
{
    fns.malloc_fn = malloc_fn ? malloc_fn : malloc;
    fns.realloc_fn = realloc_fn ? realloc_fn : realloc;
    fns.free_fn = free_fn ? free_fn : free;
}

void *evzk__zalloc(size_t size)
{
    void *p = fns.malloc_fn(size ? size : 1);

    return p ? memset(p, 0, size) : NULL;
}

void *evzk__memdup(const void *data, size_t len)
{
    char *p = evzk__zalloc(len + 1);

    if (p && len)
        memcpy(p, data, len);
    return p;
}

char *evzk__strdup(const char *s) { return evzk__memdup(s, strlen(s)); }

char *evzk__concat(const char *a, const char *b)
{
    size_t n = strlen(a);
    char *p = evzk__zalloc(n + strlen(b) + 1);

    if (p) {
        memcpy(p, a, n);
        memcpy(p + n, b, strlen(b));
    }
    return p;
}

char *evzk__join(const char *dir, const char *name)
{
    char *above = evzk__concat(dir, "/");
    char *path = above ? evzk__concat(above, name) : NULL;

    evzk__free(above);
    return path;
}

void evzk__mem_settle(void)
{
    void *volatile large = malloc(4096);

    free(large);
}

void evzk__free(void *p)
{
    if (p)
        fns.free_fn(p);
}
