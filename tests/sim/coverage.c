/* What was taken of each table: a bit for each state, move, and event in a
 * state.
 *
 * What is possible is read off the table itself, so that a state or a move that
 * nobody reaches shows: a scene is wanted, or the table says too much.
 *
 * How it can fail: a move that the table does not allow is none of these; the
 * machine calls it illegal, and fails. */
#include "coverage.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { KINDS = EVZK__N_KINDS, STATES = 32 };

struct taken {
    _Atomic uint32_t states, moves[STATES], events[STATES];
};

static struct taken *all;

void coverage_open(void)
{
    if (all)
        return;
    all = mmap(NULL, KINDS * sizeof *all, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        abort();
}

void coverage_clear(void)
{
    if (all)
        memset(all, 0, KINDS * sizeof *all);
}

static struct taken *taken_of(const struct evzk__kind *kind)
{
    for (int i = 0; all && i < KINDS && evzk__kinds[i]; i++) {
        if (evzk__kinds[i] == kind)
            return &all[i];
    }
    return NULL;
}

static const struct evzk__kind *kind_named(const char *name)
{
    for (int i = 0; evzk__kinds[i]; i++) {
        if (strcmp(evzk__kinds[i]->name, name) == 0)
            return evzk__kinds[i];
    }
    return NULL;
}

static int state_named(const struct evzk__kind *kind, const char *name)
{
    for (int i = 0; name && i < kind->n_rows; i++) {
        if (strcmp(kind->rows[i].name, name) == 0)
            return i;
    }
    return -1;
}

static int event_named(const char *name)
{
    for (int i = 0; name && i < EVZK__EVENTS; i++) {
        if (strcmp(evzk__event_name[i], name) == 0)
            return i;
    }
    return -1;
}

/* Mostly it is there already: then the memory that the jobs share is only
 * read. */
static void set(_Atomic uint32_t *bits, int bit)
{
    uint32_t mask = UINT32_C(1) << bit;

    if (!(atomic_load_explicit(bits, memory_order_relaxed) & mask))
        atomic_fetch_or(bits, mask);
}

void coverage_note(const evzk_trace *t)
{
    const struct evzk__kind *kind = kind_named(t->kind);
    struct taken *k = kind ? taken_of(kind) : NULL;
    int from, to, event = event_named(t->event);

    if (!k)
        return;
    from = state_named(kind, t->from);
    to = state_named(kind, t->to);
    if (t->entered && to >= 0)
        set(&k->states, to);
    if (from >= 0 && event >= 0)
        set(&k->events[from], event);
    if (t->entered && from >= 0 && to >= 0)
        set(&k->moves[from], to);
}

static unsigned count(uint32_t bits)
{
    return (unsigned)__builtin_popcount(bits);
}

struct coverage coverage_of(const struct evzk__kind *kind)
{
    struct coverage c = {0};
    struct taken *k = taken_of(kind);

    for (int i = 0; k && i < kind->n_rows; i++) {
        uint32_t next = evzk__row_next(kind, i), on = evzk__row_events(kind, i);

        c.all_states += evzk__has_row(kind, i);
        c.states += k->states >> i & 1;
        c.all_moves += count(next);
        c.moves += count(next & k->moves[i]);
        c.all_pairs += count(on);
        c.pairs += count(on & k->events[i]);
    }
    return c;
}

static unsigned missing_moves(const struct evzk__kind *kind, int from,
                              uint32_t bits, FILE *out)
{
    for (int i = 0; i < kind->n_rows; i++) {
        if (bits >> i & 1)
            fprintf(out, "%s: move never made: %s to %s\n", kind->name,
                    kind->rows[from].name, kind->rows[i].name);
    }
    return count(bits);
}

static unsigned missing_events(const struct evzk__kind *kind, int state,
                               uint32_t bits, FILE *out)
{
    for (int i = 0; i < EVZK__EVENTS; i++) {
        if (bits >> i & 1)
            fprintf(out, "%s: pair never seen: %s, %s\n", kind->name,
                    kind->rows[state].name, evzk__event_name[i]);
    }
    return count(bits);
}

unsigned coverage_missing(const struct evzk__kind *kind, FILE *out)
{
    struct taken *k = taken_of(kind);
    unsigned n = 0;

    for (int i = 0; k && i < kind->n_rows; i++) {
        if (evzk__has_row(kind, i) && !(k->states >> i & 1)) {
            fprintf(out, "%s: state never entered: %s\n", kind->name,
                    kind->rows[i].name);
            n++;
        }
        n +=
            missing_moves(kind, i, evzk__row_next(kind, i) & ~k->moves[i], out);
        n += missing_events(kind, i, evzk__row_events(kind, i) & ~k->events[i],
                            out);
    }
    return n;
}
