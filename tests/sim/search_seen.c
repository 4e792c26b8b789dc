/* Tables of digests, with linear probing.
 *
 * A job takes an empty entry by its first half, and writes the second half
 * then: another that looks in between does not find the world, and visits it
 * too.  Nothing is lost by that.
 *
 * A table that is half full is followed by one of four times its size, so that
 * a short search touches little memory; what was noted stays where it is.
 *
 * How it can fail: two worlds of one digest, once in 2^64 worlds or so. */
#include "search_seen.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

enum { FIRST_BITS = 14, TABLES = 7, PROBES = 64 };

struct entry {
    _Atomic uint64_t a, b;
};

static struct {
    struct entry *entries; /* Of all tables, one behind the other. */
    struct counts {
        _Atomic uint64_t n[TABLES];
        _Atomic unsigned last; /* The table that takes new ones. */
        _Atomic bool full;
    } * counts;
} seen;

static size_t entries_of(unsigned table)
{
    return (size_t)1 << (FIRST_BITS + 2 * table);
}

static struct entry *table_at(unsigned table)
{
    struct entry *e = seen.entries;

    for (unsigned i = 0; i < table; i++)
        e += entries_of(i);
    return e;
}

static size_t size_of_all(void)
{
    size_t n = 0;

    for (unsigned i = 0; i < TABLES; i++)
        n += entries_of(i);
    return n * sizeof(struct entry);
}

static void *shared(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

bool seen_open(void)
{
    seen.entries = shared(size_of_all());
    seen.counts = shared(sizeof *seen.counts);
    if (seen.entries && seen.counts)
        return true;
    seen_close();
    return false;
}

void seen_close(void)
{
    if (seen.entries)
        munmap(seen.entries, size_of_all());
    if (seen.counts)
        munmap(seen.counts, sizeof *seen.counts);
    seen.entries = NULL;
    seen.counts = NULL;
}

static struct sim_digest with(struct sim_digest d, unsigned left)
{
    d.v[0] += left;
    d.v[0] |= 1; /* 0 is an empty entry. */
    d.v[1] ^= left * UINT64_C(0x9e3779b97f4a7c15);
    d.v[1] |= 1;
    return d;
}

/* The entry of this digest in a table, or the empty one where it belongs; NULL:
 * neither is near. */
static struct entry *find(struct sim_digest d, unsigned table)
{
    struct entry *first = table_at(table);
    uint64_t mask = entries_of(table) - 1;

    for (uint64_t i = 0; i < PROBES; i++) {
        struct entry *e = &first[((d.v[1] >> 1) + i) & mask];
        uint64_t a = atomic_load_explicit(&e->a, memory_order_acquire);

        if (a == 0)
            return e;
        if (a == d.v[0] &&
            atomic_load_explicit(&e->b, memory_order_acquire) == d.v[1])
            return e;
    }
    return NULL;
}

static bool is_there(struct sim_digest d)
{
    unsigned last = atomic_load(&seen.counts->last);

    for (unsigned i = 0; i <= last; i++) {
        struct entry *e = find(d, i);

        if (e && atomic_load_explicit(&e->a, memory_order_relaxed) == d.v[0])
            return true;
    }
    return false;
}

static void grow(unsigned table)
{
    if (table + 1 < TABLES)
        atomic_compare_exchange_strong(&seen.counts->last, &table, table + 1);
    else
        atomic_store(&seen.counts->full, true);
}

static void note(struct sim_digest d)
{
    unsigned table = atomic_load(&seen.counts->last);
    struct entry *e = find(d, table);
    uint64_t empty = 0, n;

    if (!e) {
        grow(table);
        return;
    }
    if (!atomic_compare_exchange_strong(&e->a, &empty, d.v[0]))
        return;
    atomic_store_explicit(&e->b, d.v[1], memory_order_release);
    n = atomic_fetch_add_explicit(&seen.counts->n[table], 1,
                                  memory_order_relaxed);
    if (n == entries_of(table) / 2)
        grow(table);
}

bool seen_add(struct sim_digest d, unsigned left)
{
    for (unsigned i = left; i <= SEEN_LEFT; i++) {
        if (is_there(with(d, i)))
            return true;
    }
    note(with(d, left));
    return false;
}

uint64_t seen_count(void)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TABLES; i++)
        n += atomic_load(&seen.counts->n[i]);
    return n;
}

bool seen_full(void) { return atomic_load(&seen.counts->full); }
