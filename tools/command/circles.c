/* Finds the circles of a wait graph.
 *
 * First the processes for which nobody waits are left out, then those for which
 * only these waited, and so on.  Each process that is left is on a
 * circle, or a circle waits for it.  From each of these a search by breadth
 * finds the shortest circle through it.  No process is in two circles: of those
 * that share one, the first is enough to see. */
#include <stdlib.h>
#include <string.h>

#include "waits.h"

struct search {
    struct waits *w;
    /* The waits of process p are out[first[p]] up to out[first[p + 1]]. */
    size_t *first;
    struct wait **out;
    size_t *waited;     /* How many waits for a process are left. */
    bool *done;         /* Left out, or shown in a circle. */
    struct wait **came; /* By which wait a search came to a process. */
    size_t *todo;       /* Processes that a search, or the peeling, goes on
                           from. */
    struct wait **circle;
};

static void sort_waits(struct search *s)
{
    size_t n = s->w->n_processes;

    for (size_t i = 0; i < s->w->n_waits; i++)
        s->first[s->w->waits[i].from] += !s->w->waits[i].any;
    for (size_t p = 0; p < n; p++)
        s->first[p + 1] += s->first[p];
    /* first[p] is the end of p's part, and sinks to its beginning. */
    for (size_t i = s->w->n_waits; i-- > 0;) {
        struct wait *one = &s->w->waits[i];

        if (one->any)
            continue;
        s->out[--s->first[one->from]] = one;
        s->waited[one->to]++;
    }
}

static void leave_out(struct search *s)
{
    size_t n = 0;

    for (size_t p = 0; p < s->w->n_processes; p++) {
        if (s->waited[p] == 0)
            s->todo[n++] = p;
    }
    for (size_t at = 0; at < n; at++) {
        size_t p = s->todo[at];

        s->done[p] = true;
        for (size_t i = s->first[p]; i < s->first[p + 1]; i++) {
            if (--s->waited[s->out[i]->to] == 0)
                s->todo[n++] = s->out[i]->to;
        }
    }
}

/* The last wait of the shortest circle through `start`; NULL: there is none. */
static struct wait *search(struct search *s, size_t start)
{
    size_t n = 0;

    memset(s->came, 0, s->w->n_processes * sizeof(*s->came));
    s->todo[n++] = start;
    for (size_t at = 0; at < n; at++) {
        size_t p = s->todo[at];

        for (size_t i = s->first[p]; i < s->first[p + 1]; i++) {
            struct wait *one = s->out[i];

            if (one->to == start)
                return one;
            if (s->came[one->to] || s->done[one->to])
                continue;
            s->came[one->to] = one;
            s->todo[n++] = one->to;
        }
    }
    return NULL;
}

/* Goes back from the last wait to the first. */
static void tell(struct search *s, size_t start, struct wait *last,
                 waits_circle_cb *cb, void *arg)
{
    size_t n = 0;

    for (struct wait *one = last;; one = s->came[one->from]) {
        one->circle = true;
        s->done[one->from] = true;
        s->circle[n++] = one;
        if (one->from == start)
            break;
    }
    for (size_t i = 0; i < n / 2; i++) {
        struct wait *one = s->circle[i];

        s->circle[i] = s->circle[n - 1 - i];
        s->circle[n - 1 - i] = one;
    }
    cb(s->circle, n, arg);
}

static bool make(struct search *s)
{
    size_t n = s->w->n_processes + 1, waits = s->w->n_waits + 1;

    s->first = calloc(n, sizeof(*s->first));
    s->out = calloc(waits, sizeof(struct wait *));
    s->waited = calloc(n, sizeof(*s->waited));
    s->done = calloc(n, sizeof(*s->done));
    s->came = calloc(n, sizeof(struct wait *));
    s->todo = calloc(n, sizeof(*s->todo));
    s->circle = calloc(n, sizeof(struct wait *));
    return s->first && s->out && s->waited && s->done && s->came && s->todo &&
           s->circle;
}

static void drop(struct search *s)
{
    free(s->first);
    free(s->out);
    free(s->waited);
    free(s->done);
    free(s->came);
    free(s->todo);
    free(s->circle);
}

bool waits_circles(struct waits *w, waits_circle_cb *cb, void *arg)
{
    struct search s = {.w = w};
    bool made = make(&s);

    if (made) {
        sort_waits(&s);
        leave_out(&s);
        for (size_t p = 0; p < w->n_processes; p++) {
            struct wait *last = s.done[p] ? NULL : search(&s, p);

            if (last)
                tell(&s, p, last, cb, arg);
        }
    }
    drop(&s);
    return made;
}
