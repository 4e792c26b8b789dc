/* The world as one thing: begun, saved, put back, told from another.
 *
 * Whatever a run changes is either in an area or was named by SIM_KEEP(); what
 * is neither makes a run that was put back go on differently: the trace of a
 * schedule played from its beginning then differs from that of the search.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* The same values, three times as fast. */
#endif
#endif

#include "area.h"

enum { KEPT = 64 };

static struct {
    void *p;
    size_t n;
} kept[KEPT];
static unsigned n_kept;

static struct {
    int64_t now;
    uint64_t random;
    int running;
    int unused; /* No padding: it would be digested. */
} world = {SIM_BEGIN_US, 0, -1, 0};
SIM_KEEP(world)

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "simulator: %s\n", why);
    abort();
}

void sim_keep(void *p, size_t n)
{
    if (n_kept == KEPT)
        give_up("too many kept variables");
    kept[n_kept].p = p;
    kept[n_kept++].n = n;
}

void sim_world_begin(uint64_t seed)
{
    area_forget();
    for (unsigned i = 0; i < n_kept; i++)
        memset(kept[i].p, 0, kept[i].n);
    world.now = SIM_BEGIN_US;
    world.random = seed;
    world.running = -1;
}

/* Saved: the kept variables, one after another, then the areas. */
struct sim_saved {
    size_t room, used;
    unsigned char *bytes;
};

bool sim_can_save(void) { return area_plain(); }

static size_t size_now(void)
{
    size_t n = 0;

    for (unsigned i = 0; i < n_kept; i++)
        n += kept[i].n;
    for (int a = 0; a < SIM_AREAS; a++)
        n += area_used(a);
    return n;
}

static void make_room(struct sim_saved *w, size_t n)
{
    w->used = n;
    if (n <= w->room)
        return;
    free(w->bytes);
    w->room = n + n / 4;
    w->bytes = malloc(w->room);
    if (!w->bytes)
        give_up("no memory to save a world");
}

struct sim_saved *sim_save(struct sim_saved *reuse)
{
    struct sim_saved *w = reuse ? reuse : calloc(1, sizeof *w);
    unsigned char *to;

    if (!w || !sim_can_save())
        give_up("cannot save the world");
    make_room(w, size_now());
    to = w->bytes;
    for (unsigned i = 0; i < n_kept; i++) {
        memcpy(to, kept[i].p, kept[i].n);
        to += kept[i].n;
    }
    for (int a = 0; a < SIM_AREAS; a++) {
        memcpy(to, area_bytes(a), area_used(a));
        to += area_used(a);
    }
    return w;
}

void sim_restore(const struct sim_saved *w)
{
    const unsigned char *from = w->bytes;

    for (unsigned i = 0; i < n_kept; i++) {
        memcpy(kept[i].p, from, kept[i].n);
        from += kept[i].n;
    }
    for (int a = 0; a < SIM_AREAS; a++) { /* As much as was used then. */
        memcpy(area_bytes(a), from, area_used(a));
        from += area_used(a);
    }
}

size_t sim_saved_size(const struct sim_saved *w) { return w->used; }

void sim_saved_free(struct sim_saved *w)
{
    if (w) {
        free(w->bytes);
        free(w);
    }
}

struct sim_digest sim_digest(void)
{
    XXH128_hash_t part[KEPT + SIM_AREAS], all;
    unsigned n = 0;

    for (unsigned i = 0; i < n_kept; i++)
        part[n++] = XXH3_128bits(kept[i].p, kept[i].n);
    for (int a = 0; a < SIM_AREAS && area_plain(); a++)
        part[n++] = XXH3_128bits(area_bytes(a), area_used(a));
    all = XXH3_128bits(part, n * sizeof part[0]);
    return (struct sim_digest){{all.low64, all.high64}};
}

int64_t sim_now(void) { return world.now; }

void sim_set_now(int64_t us) { world.now = us; }

uint64_t sim_random(void) /* splitmix64 */
{
    uint64_t z = world.random += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int sim_running(void) { return world.running; }

int sim_enter(int proc)
{
    int before = world.running;

    world.running = proc;
    return before;
}

void sim_leave(int before) { world.running = before; }

uint64_t sim_hash(const void *data, size_t n)
{
    const unsigned char *at = data;
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * UINT64_C(1099511628211);
    return h;
}
