/* The memory of a world: one heap for each process and one for the rest.
 *
 * A heap is a row of blocks from its first byte on, each with a header, and
 * lists of free ones by size, the lowest address first: so what is allocated
 * decides where the next block will be, and not in which order others were
 * freed.  A free block is full of 0xdd, which shows when it is used: a pointer
 * in it leads nowhere, and a byte that was written is found when the block is
 * allocated again, or when the run ends.
 *
 * Under sanitizers and Valgrind every block is malloc's own, so that these see
 * its bounds and its end.
 */
#include "area.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "tests/real/support/support.h" /* RUNNING_ON_VALGRIND */
#include "world.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define WATCHED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(WATCHED)
#define WATCHED 1
#endif
#ifndef WATCHED
#define WATCHED 0
#endif

enum {
    PROC_SIZE = 512 << 10,
    OUTSIDE_SIZE = 4 << 20, /* Only what is used costs time. */
    STEP = 16,
    SMALL = 1024, /* Up to here sizes go by STEP, then by eighths. */
    CLASSES = SMALL / STEP + 8 * 12,
    LIVE = 0x5ca1ab1e,
    DEAD = 0x0ddba11,
    FREED = 0xdd
};

struct head {
    uint32_t size; /* Of what follows. */
    uint32_t magic;
    uint32_t next; /* When free: where the next free one is; 0: none. */
    uint32_t asked;
};

static struct {
    struct area {
        uint32_t used, live;
        uint32_t free[CLASSES]; /* Offset of a head, and 1; 0: none. */
    } area[SIM_AREAS];
    struct oom {
        unsigned count, at; /* Number `at` fails; 0: none. */
        bool on, told;
    } oom[SIM_PROCS];
} mem;
SIM_KEEP(mem)

static unsigned char procs[SIM_PROCS][PROC_SIZE] __attribute__((aligned(64)));
static unsigned char outside[OUTSIDE_SIZE] __attribute__((aligned(64)));

bool area_plain(void)
{
    static int plain = -1;

    if (plain < 0)
        plain = !WATCHED && !RUNNING_ON_VALGRIND;
    return plain;
}

void *area_bytes(int area)
{
    return area == SIM_OUTSIDE ? outside : procs[area];
}

size_t area_used(int area) { return mem.area[area].used; }

static struct head *head_at(int area, uint32_t offset)
{
    return (struct head *)((unsigned char *)area_bytes(area) + offset);
}

/* The number of the list for such a size, which is rounded up. */
static unsigned class_of(uint32_t *size)
{
    unsigned octave = 0;
    uint32_t step;

    if (*size <= SMALL) {
        *size = *size ? (*size + STEP - 1) / STEP * STEP : STEP;
        return *size / STEP - 1;
    }
    while (*size > (uint32_t)SMALL << (octave + 1))
        octave++;
    step = ((uint32_t)SMALL << octave) / 8;
    *size = (*size + step - 1) / step * step;
    return SMALL / STEP + octave * 8 + *size / step - 9;
}

static _Noreturn void full(int area, size_t n)
{
    fprintf(stderr, "simulator: area %d is full (%zu more)\n", area, n);
    abort();
}

static struct head *cut_block(int area, uint32_t size)
{
    uint32_t limit = area == SIM_OUTSIDE ? OUTSIDE_SIZE : PROC_SIZE;
    struct area *a = &mem.area[area];
    struct head *h;

    if (size + sizeof *h > limit - a->used)
        full(area, size);
    h = head_at(area, a->used);
    h->size = size;
    a->used += (uint32_t)sizeof *h + size;
    return h;
}

/* Reports a violation if a byte of this free block was written to. */
static void check_free(int area, const struct head *h)
{
    const unsigned char *p = (const unsigned char *)(h + 1);

    if (p[0] != FREED || memcmp(p, p + 1, h->size - 1) != 0)
        sim_violation("area %d: freed memory was written to", area);
}

void area_check_freed(int area)
{
    for (unsigned i = 0; i < CLASSES; i++) {
        uint32_t at = mem.area[area].free[i];

        for (; at; at = head_at(area, at - 1)->next)
            check_free(area, head_at(area, at - 1));
    }
}

static void *plain_alloc(int area, size_t n)
{
    uint32_t size = (uint32_t)n, *list;
    struct head *h;

    if (n > OUTSIDE_SIZE)
        full(area, n);
    list = &mem.area[area].free[class_of(&size)];
    if (*list) {
        h = head_at(area, *list - 1);
        *list = h->next;
        check_free(area, h);
    } else {
        h = cut_block(area, size);
    }
    h->magic = LIVE;
    h->next = 0;
    h->asked = (uint32_t)n;
    return memset(h + 1, 0, size);
}

static bool is_block(int area, const struct head *h)
{
    const unsigned char *base = area_bytes(area);
    const unsigned char *p = (const unsigned char *)h;

    return p >= base && p < base + mem.area[area].used &&
           (p - base) % STEP == 0 && h->magic == LIVE;
}

static bool plain_free(int area, void *p)
{
    struct head *h = (struct head *)p - 1;
    uint32_t *list, size, mine;

    if (!is_block(area, h)) {
        sim_violation("area %d: freed what is not allocated there", area);
        return false;
    }
    size = h->size;
    mine = (uint32_t)((unsigned char *)h - (unsigned char *)area_bytes(area));
    memset(p, FREED, size);
    h->magic = DEAD;
    h->asked = 0;
    list = &mem.area[area].free[class_of(&size)];
    while (*list && *list <= mine)
        list = &head_at(area, *list - 1)->next;
    h->next = *list;
    *list = mine + 1;
    return true;
}

/* What malloc gave, to be freed when the next world begins. */
struct watched {
    LIST_ENTRY(watched) link;
    size_t asked;
    int area;
} __attribute__((aligned(16)));
static LIST_HEAD(, watched) all_watched;

static void *watched_alloc(int area, size_t n, bool clear)
{
    struct watched *b = malloc(sizeof *b + n);

    if (!b)
        full(area, n);
    b->area = area;
    b->asked = n;
    LIST_INSERT_HEAD(&all_watched, b, link);
    return clear ? memset(b + 1, 0, n) : b + 1;
}

static bool watched_free(int area, void *p)
{
    struct watched *b = (struct watched *)p - 1;

    if (b->area != area) {
        sim_violation("area %d: freed what is of area %d", area, b->area);
        return false;
    }
    LIST_REMOVE(b, link);
    free(b);
    return true;
}

void area_forget(void)
{
    struct watched *b;

    while ((b = LIST_FIRST(&all_watched)) != NULL) {
        LIST_REMOVE(b, link);
        free(b);
    }
}

void *sim_alloc(int area, size_t n)
{
    mem.area[area].live++;
    return area_plain() ? plain_alloc(area, n) : watched_alloc(area, n, true);
}

bool area_is_freed(const char *text) { return (unsigned char)text[0] == FREED; }

void sim_free(int area, void *p)
{
    if (p && (area_plain() ? plain_free(area, p) : watched_free(area, p)))
        mem.area[area].live--;
}

void *sim_memdup(int area, const void *p, size_t n)
{
    void *copy = sim_alloc(area, n);

    return n ? memcpy(copy, p, n) : copy;
}

char *sim_strdup(int area, const char *s)
{
    return sim_memdup(area, s, strlen(s) + 1);
}

size_t sim_live(int area) { return mem.area[area].live; }

/* Of a process: may fail. */

static bool fails(struct oom *o)
{
    o->count++;
    return o->at && (o->on ? o->count >= o->at : o->count == o->at);
}

static bool nobody(const char *what)
{
    if (sim_running() < 0)
        sim_violation("%s while no process runs", what);
    return sim_running() < 0;
}

void *sim_malloc(size_t n)
{
    int proc = sim_running();

    if (nobody("memory allocated"))
        return NULL;
    if (fails(&mem.oom[proc])) {
        sim_say("p%d allocation %u fails", proc, mem.oom[proc].count);
        return NULL;
    }
    mem.area[proc].live++;
    return area_plain() ? plain_alloc(proc, n) : watched_alloc(proc, n, false);
}

void sim_mfree(void *p)
{
    if (p && !nobody("memory freed"))
        sim_free(sim_running(), p);
}

void *sim_mrealloc(void *p, size_t n)
{
    void *bigger = sim_malloc(n);
    size_t was;

    if (!p || !bigger)
        return bigger;
    was = area_plain() ? ((struct head *)p - 1)->asked
                       : ((struct watched *)p - 1)->asked;
    memcpy(bigger, p, was < n ? was : n);
    sim_mfree(p);
    return bigger;
}

unsigned sim_alloc_count(int proc) { return mem.oom[proc].count; }

void sim_alloc_fail(int proc, unsigned nth, bool on)
{
    struct oom *o = &mem.oom[proc];

    o->at = o->count + (nth ? nth : 1);
    o->on = on;
    o->told = true;
}

void sim_alloc_heal(int proc)
{
    struct oom *o = &mem.oom[proc];

    o->at = 0;
    o->on = o->told = false;
}

bool sim_alloc_failing(int proc) { return mem.oom[proc].told; }
