/* The wait graph: makes it. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "waits.h"

#define NOBODY ((size_t)-1)
#define HOLDERS_MAX 16 /* More have edges from the first waiter alone. */

/* A session, and its place in `processes`. */
struct known {
    int64_t session;
    size_t index;
};

/* Room for one more; it grows at each power of two. */
static bool grow(struct waits *w, void *array, size_t n, size_t size)
{
    void **v = array, *bigger;

    if (n & (n - 1))
        return true;
    bigger = realloc(*v, (n ? 2 * n : 1) * size);
    if (!bigger) {
        w->failed = true;
        return false;
    }
    *v = bigger;
    return true;
}

static int compare(const void *a, const void *b)
{
    int64_t x = ((const struct known *)a)->session;
    int64_t y = ((const struct known *)b)->session;

    return x < y ? -1 : x > y;
}

static size_t add_process(struct waits *w, int64_t session)
{
    struct known *one = malloc(sizeof(*one));

    if (!one ||
        !grow(w, &w->processes, w->n_processes, sizeof(*w->processes))) {
        w->failed = true;
        free(one);
        return NOBODY;
    }
    *one = (struct known){session, w->n_processes};
    if (!tsearch(one, &w->by_session, compare)) {
        w->failed = true;
        free(one);
        return NOBODY;
    }
    w->processes[w->n_processes] =
        (struct process){.session = session, .who = {.hidden = true}};
    return w->n_processes++;
}

/* The process of a contender.  Of several names the first one that tells
 * something is kept. */
static size_t process_of(struct waits *w, const evzk_contender *c)
{
    struct known key = {.session = c->session};
    struct known **found = tfind(&key, &w->by_session, compare);
    size_t i = found ? (*found)->index : add_process(w, c->session);

    if (i != NOBODY && !c->hidden &&
        (w->processes[i].who.hidden || w->processes[i].who.asked))
        identity_read(&w->processes[i].who, c->data ? c->data : "",
                      c->data_len);
    return i;
}

/* Adds an edge; NULL: there is no memory. */
static struct wait *add_wait(struct waits *w, size_t from, size_t to,
                             const char *path, int64_t age_ms)
{
    struct wait *one;

    if (from == NOBODY || to == NOBODY ||
        !grow(w, &w->waits, w->n_waits, sizeof(*w->waits)))
        return NULL;
    one = &w->waits[w->n_waits++];
    *one = (struct wait){
        .from = from, .to = to, .path = strdup(path), .age_ms = age_ms};
    if (!one->path)
        w->failed = true;
    return one;
}

static bool reads(const evzk_contender *c) { return c->mode == EVZK_LOCK_READ; }

/* The nearest contender that keeps v[i] waiting; NOBODY: none. */
static size_t blocker(const evzk_contender *v, size_t i)
{
    if (!reads(&v[i]))
        return i ? i - 1 : NOBODY;
    while (i-- > 0) {
        if (!reads(&v[i]))
            return i;
    }
    return NOBODY;
}

/* Has the session of v[i] a contender at v[to], or before it? */
static bool own_ahead(const evzk_contender *v, size_t i, size_t to)
{
    for (size_t k = 0; k <= to; k++) {
        if (v[k].session == v[i].session)
            return true;
    }
    return false;
}

/* Adds what v[i] waits for; `few`: holders have edges from all waiters. */
static void add_waiter(struct waits *w, const char *path,
                       const evzk_contender *v, size_t i, bool few)
{
    size_t to = blocker(v, i), me = process_of(w, &v[i]);

    if (to == NOBODY)
        return;
    if (own_ahead(v, i, to)) {
        add_wait(w, me, me, path, v[i].age_ms);
        return;
    }
    for (size_t k = 0; few && k < i && v[k].holder; k++)
        add_wait(w, me, process_of(w, &v[k]), path, v[i].age_ms);
    for (;; to--) {
        struct wait *one = NULL;

        if (!few || !v[to].holder)
            one = add_wait(w, me, process_of(w, &v[to]), path, v[i].age_ms);
        if (one)
            one->ahead = few;
        if (to == 0 || !reads(&v[to]))
            return;
    }
}

static void add_queue(struct waits *w, const char *path,
                      const evzk_contender *v, size_t n)
{
    size_t holders = 0;

    while (holders < n && v[holders].holder)
        process_of(w, &v[holders++]);
    for (size_t i = holders; i < n; i++)
        add_waiter(w, path, v, i, holders <= HOLDERS_MAX);
    w->locks += holders > 0;
}

/* Notes a lease, or the first in the queue, of what may be the semaphore whose
 * path has `len` bytes. */
static void add_turn(struct waits *w, const char *path, size_t len,
                     const evzk_contender *c, bool lease)
{
    size_t process = process_of(w, c);
    struct turn *one;

    if (process == NOBODY || !grow(w, &w->turns, w->n_turns, sizeof(*w->turns)))
        return;
    one = &w->turns[w->n_turns++];
    *one = (struct turn){strndup(path, len), process, c->age_ms, lease};
    if (!one->path)
        w->failed = true;
}

/* The same, of "/s/leases", "/s/locks" or Kazoo's "/s-__lock__". */
static void add_turn_below(struct waits *w, const char *path,
                           const evzk_contender *c, bool lease,
                           const char *tail)
{
    size_t len = strlen(path), cut = strlen(tail);

    if (len > cut && strcmp(path + len - cut, tail) == 0)
        add_turn(w, path, len - cut, c, lease);
}

void waits_add(struct waits *w, const char *path, const evzk_contender *v,
               size_t n)
{
    size_t queue = 0;

    while (queue < n && !v[queue].foreign)
        queue++; /* Others come behind, and wait by rules of their own. */
    add_queue(w, path, v, queue);
    for (size_t i = queue; i < n; i++) {
        if (contender_is_lease(&v[i]))
            add_turn_below(w, path, &v[i], true, "/leases");
    }
    if (!queue)
        return;
    add_turn_below(w, path, &v[0], false, "/locks");
    add_turn_below(w, path, &v[0], false, "-__lock__");
}

void waits_add_lease(struct waits *w, const char *path, const evzk_contender *c)
{
    add_turn(w, path, strlen(path), c, true);
}

static size_t leases_of(const struct waits *w, const char *path)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_turns; i++)
        n += w->turns[i].lease && strcmp(w->turns[i].path, path) == 0;
    return n;
}

void waits_add_semaphores(struct waits *w)
{
    for (size_t i = 0; i < w->n_turns; i++) {
        const struct turn *first = &w->turns[i];
        size_t n = first->lease ? 0 : leases_of(w, first->path);

        for (size_t k = 0; n && k < w->n_turns; k++) {
            struct wait *one = NULL;

            if (w->turns[k].lease && strcmp(w->turns[k].path, first->path) == 0)
                one = add_wait(w, first->process, w->turns[k].process,
                               first->path, first->age_ms);
            if (one)
                one->any = n > 1;
        }
    }
}

void waits_free(struct waits *w)
{
    tdestroy(w->by_session, free);
    for (size_t i = 0; i < w->n_waits; i++)
        free(w->waits[i].path);
    for (size_t i = 0; i < w->n_turns; i++)
        free(w->turns[i].path);
    free(w->processes);
    free(w->waits);
    free(w->turns);
}
