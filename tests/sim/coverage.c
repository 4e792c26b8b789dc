/* The states and arrows of each table that were taken: a bit for each state,
 * and for each arrow: an event in a state, and the state to which it led.
 *
 * The possible arrows are read off the table itself, so that an arrow that no
 * run takes shows: a scene is wanted, or the table says too much.  And an arrow
 * that was taken and is not in the table shows, too: coverage_note() refuses
 * it. */
#include "coverage.h"
#include "ballot.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One more: of the tests alone. */
enum { KINDS = EVZK__N_KINDS + 1, STATES = EVZK__ROWS_MAX };

struct taken {
    _Atomic uint32_t states, arrows[STATES][EVZK__CAUSES];
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

static const struct evzk__kind *kind_at(int i)
{
    return i < EVZK__N_KINDS ? evzk__kinds[i] : &ballot_kind;
}

static struct taken *taken_of(const struct evzk__kind *kind)
{
    for (int i = 0; all && i < KINDS; i++) {
        if (kind_at(i) == kind)
            return &all[i];
    }
    return NULL;
}

static const struct evzk__kind *kind_named(const char *name)
{
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(kind_at(i)->name, name) == 0)
            return kind_at(i);
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
    for (int i = 0; name && i < EVZK__CAUSES; i++) {
        if (strcmp(evzk__cause_name[i], name) == 0)
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

/* The core may enter a row once more that allows it. */
static bool is_repeat(const struct evzk__row *r, const evzk_trace *t)
{
    unsigned again = EVZK__RETRY | EVZK__HOLDS | EVZK__UNSENT;

    return t->entered && strcmp(t->from, t->to) == 0 && r->flags & again;
}

bool coverage_note(const evzk_trace *t)
{
    const struct evzk__kind *kind = kind_named(t->kind);
    struct taken *k = kind ? taken_of(kind) : NULL;
    int from, to, event = event_named(t->event);

    if (!k)
        return true;
    from = state_named(kind, t->from);
    to = state_named(kind, t->to);
    if (event < 0 || to < 0 || (t->from && from < 0))
        return false;
    if (t->entered)
        set(&k->states, to);
    if (from < 0)
        return true;
    to = t->entered ? to : EVZK__HERE;
    set(&k->arrows[from][event], to);
    return evzk__row_may(kind, from, (enum evzk__cause)event) & EVZK__BIT(to) ||
           is_repeat(&kind->rows[from], t);
}

static unsigned count(uint32_t bits)
{
    return (unsigned)__builtin_popcount(bits);
}

static uint32_t next_of(const struct evzk__kind *kind, int from, int event)
{
    return evzk__row_next(kind, from, (enum evzk__cause)event);
}

static void add_row(struct coverage *c, const struct evzk__kind *kind, int from,
                    const struct taken *k)
{
    uint32_t moves = 0, all_moves = 0;

    for (int e = 0; e < EVZK__CAUSES; e++) {
        uint32_t next = next_of(kind, from, e), took = k->arrows[from][e];

        all_moves |= next;
        moves |= next & took;
        c->all_pairs += next != 0;
        c->pairs += next && took;
        c->all_arrows += count(next);
        c->arrows += count(next & took);
    }
    c->all_moves += count(all_moves & ~EVZK__BIT(EVZK__HERE));
    c->moves += count(moves & ~EVZK__BIT(EVZK__HERE));
}

struct coverage coverage_of(const struct evzk__kind *kind)
{
    struct coverage c = {0};
    struct taken *k = taken_of(kind);

    for (int i = 0; k && i < kind->n_rows; i++) {
        c.all_states++;
        c.states += k->states >> i & 1;
        add_row(&c, kind, i, k);
    }
    return c;
}

static unsigned missing_arrows(const struct evzk__kind *kind, int from,
                               int event, uint32_t missing, FILE *out)
{
    for (int i = 0; i <= EVZK__HERE; i++) {
        if (missing & EVZK__BIT(i))
            fprintf(out, "%s: arrow never taken: %s, %s: %s\n", kind->name,
                    kind->rows[from].name, evzk__cause_name[event],
                    i == EVZK__HERE ? "stays" : kind->rows[i].name);
    }
    return count(missing);
}

unsigned coverage_missing(const struct evzk__kind *kind, FILE *out)
{
    struct taken *k = taken_of(kind);
    unsigned n = 0;

    for (int i = 0; k && i < kind->n_rows; i++) {
        if (!(k->states >> i & 1)) {
            fprintf(out, "%s: state never entered: %s\n", kind->name,
                    kind->rows[i].name);
            n++;
        }
        for (int e = 0; e < EVZK__CAUSES; e++)
            n += missing_arrows(kind, i, e,
                                next_of(kind, i, e) & ~k->arrows[i][e], out);
    }
    return n;
}
