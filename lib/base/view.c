/* What other threads see of a grant: a deadline and an end, each one atomic.
 * Nothing here takes a lock.
 *
 * How it can fail.  Between two loads a thread may be paused for any time.  So
 * the deadline is read before the clock: an old deadline can only be past.
 */
#include "lib/base/view.h"

#include <stdatomic.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"

struct evzk__term {
    atomic_uint refs;
    _Atomic int64_t deadline; /* 0: the term is over. */
    long pid;                 /* Nothing is held in a forked child. */
};

struct evzk_lease {
    atomic_uint refs;
    atomic_bool over;
    struct evzk__term *term; /* With a reference. */
    uint64_t token;
};

struct evzk__term *evzk__term_new(int64_t deadline_us)
{
    struct evzk__term *t = evzk__zalloc(sizeof *t);

    if (!t)
        return NULL;
    atomic_init(&t->refs, 1);
    atomic_init(&t->deadline, deadline_us);
    t->pid = evzk__pid();
    return t;
}

void evzk__term_renew(struct evzk__term *t, int64_t deadline_us)
{
    if (t)
        atomic_store_explicit(&t->deadline, deadline_us, memory_order_release);
}

/* Gives a reference back.  True: it was the last one. */
static bool drop(atomic_uint *refs)
{
    return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

static void term_unref(struct evzk__term *t)
{
    if (drop(&t->refs))
        evzk__free(t);
}

void evzk__term_end(struct evzk__term *t)
{
    if (!t)
        return;
    atomic_store_explicit(&t->deadline, 0, memory_order_release);
    term_unref(t);
}

evzk_lease *evzk__view_new(struct evzk__term *t, uint64_t token)
{
    evzk_lease *l = evzk__zalloc(sizeof *l);

    if (!l)
        return NULL;
    atomic_init(&l->refs, 1);
    atomic_init(&l->over, false);
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    l->term = t;
    l->token = token;
    return l;
}

void evzk__view_end(evzk_lease *l)
{
    if (l)
        atomic_store_explicit(&l->over, true, memory_order_release);
}

evzk_lease *evzk_lease_ref(evzk_lease *l)
{
    if (l)
        atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
    return l;
}

void evzk_lease_unref(evzk_lease *l)
{
    if (!l || !drop(&l->refs))
        return;
    term_unref(l->term);
    evzk__free(l);
}

uint64_t evzk_lease_token(const evzk_lease *l) { return l ? l->token : 0; }

int64_t evzk_lease_deadline_us(const evzk_lease *l)
{
    int64_t deadline;

    if (!l || l->term->pid != evzk__pid())
        return 0;
    deadline = atomic_load_explicit(&l->term->deadline, memory_order_acquire);
    return atomic_load_explicit(&l->over, memory_order_acquire) ? 0 : deadline;
}

bool evzk_lease_held(const evzk_lease *l)
{
    int64_t deadline = evzk_lease_deadline_us(l);

    return deadline > 0 && evzk__now_us() < deadline;
}
