/* How many children a znode has: one listing, as new as the leader's.
 *
 *   LISTING --> ENDED
 *
 * How it can fail.  A connection that is lost starts the listing again; it
 * changes nothing.
 */
#include "evzk/count.h"
#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"

struct evzk_count {
    struct evzk__machine m;
    evzk_count_cb *cb; /* NULL once freed. */
    void *arg;
    size_t n;
};

enum { LISTING, ENDED, STATES };

static struct evzk_count *count_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_count, m);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc; /* The core ends the machine with it. */
    count_of(m)->n = e->reply->res->names.n;
    return evzk__machine_finish(m, EVZK_OK);
}

static void end(struct evzk__machine *m)
{
    struct evzk_count *c = count_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);

    if (c->cb) /* The callback may free the object: touch it no more. */
        c->cb(c, m->rc, m->rc == EVZK_OK ? c->n : 0, c->arg);
    evzk__machine_called(s, begun);
}

static void destroy(struct evzk__machine *m) { evzk__free(count_of(m)); }

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state    entry            reaction  main   on stop  on expiry  flags */
ROW(LISTING, evzk__sync_list, listed,   ENDED, ENDED,   LISTING,   NOTHING_SENT|RETRY,
    ON(REPLY, ENDED, FAIL)),
END(ENDED,   end),
};
/* clang-format on */

const struct evzk__kind evzk__count_kind = {
    .name = "count", .rows = rows, .n_rows = STATES, .destroy = destroy};

int evzk_count_start(evzk_session *s, const char *path, evzk_count_cb *cb,
                     void *arg, evzk_count **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_count *c;
    int rc;

    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    c = evzk__zalloc(sizeof *c);
    if (!c)
        return EVZK_ERR_NOMEM;
    c->cb = cb;
    c->arg = arg;
    rc = evzk__machine_begin(&c->m, s, &evzk__count_kind, path, 0);
    if (rc == EVZK_OK)
        *out = c;
    return rc;
}

void evzk_count_free(evzk_count *c)
{
    if (c) {
        c->cb = NULL;
        evzk__machine_let_go(&c->m);
    }
}
