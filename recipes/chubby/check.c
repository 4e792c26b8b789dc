/* Is a sequencer valid?  The leader is asked, in one trip: for the znode of the
 * lock, and for all that are in its directory.
 *
 *   ASKING --> ENDED
 *
 * How it can fail.  The directory may be gone, or the znode: then the sequencer
 * is not valid, whoever may hold the lock now.  Between the two answers a lock
 * may end: the sequencer was valid when the first one was given.
 */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/kinds.h"

enum { ASKING, ENDED, STATES };

/* Which step. */
enum { SYNC, NODE, QUEUE };

struct evzk__check {
    struct evzk__machine m; /* Its directory is the lock's. */
    evzk__check_cb *cb;     /* NULL once the owner freed it. */
    void *arg;
    struct evzk__sequencer sequencer; /* Owned. */
    bool same;                        /* The znode exists, and is the same. */
    struct evzk__step step[3];
};

static struct evzk__check *check_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__check, m);
}

static void ask(struct evzk__machine *m)
{
    struct evzk__check *c = check_of(m);

    c->same = false;
    c->step[SYNC] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    c->step[NODE] = (struct evzk__step){.verb = EVZK__STEP_EXISTS,
                                        .name = c->sequencer.node};
    c->step[QUEUE] =
        (struct evzk__step){.verb = EVZK__STEP_CHILDREN, .name = ""};
    evzk__ask(m, c->step, 3, EVZK__EACH);
}

static int asked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__check *c = check_of(m);
    const struct evzk__reply *reply = e->reply;
    bool valid;

    if (reply->part == NODE)
        c->same = reply->rc == EVZK_OK &&
                  reply->res->stat.czxid == c->sequencer.czxid;
    if (!reply->last)
        return EVZK_OK;
    if (reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NONODE)
        return reply->first_rc;
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    valid = c->same && reply->rc == EVZK_OK &&
            evzk__sequencer_is_first(&reply->res->names, c->sequencer.node);
    return evzk__machine_finish(m, valid ? EVZK_OK : EVZK_ERR_NODEGONE);
}

static void end(struct evzk__machine *m)
{
    struct evzk__check *c = check_of(m);

    if (c->cb)
        c->cb(c->arg, m->rc, &c->sequencer);
}

static void destroy(struct evzk__machine *m)
{
    struct evzk__check *c = check_of(m);

    evzk__sequencer_clear(&c->sequencer);
    evzk__free(c);
}

/* NEVER: the handle ends with the session, and frees the check first. */
/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state       entry reaction  main     on stop  on expiry flags */
ROW(ASKING, ask,  asked,    ENDED,   ENDED,   ASKING, RETRY|NOTHING_SENT,
    ON(REPLY, ENDED, HERE, FAIL),
    ON(EXPIRED, NEVER)),
END(ENDED,  end),
};
/* clang-format on */

const struct evzk__kind evzk__chubby_check_kind = {
    .name = "chubby-check", .rows = rows, .n_rows = STATES, .destroy = destroy};

int evzk__check_start(evzk_session *s, struct evzk__sequencer *q,
                      evzk__check_cb *cb, void *arg, struct evzk__check **out)
{
    struct evzk__check *c = evzk__zalloc(sizeof *c);
    int rc;

    if (!c) {
        evzk__sequencer_clear(q);
        return EVZK_ERR_NOMEM;
    }
    c->cb = cb;
    c->arg = arg;
    c->sequencer = *q;
    *q = (struct evzk__sequencer){0};
    rc = evzk__machine_begin(&c->m, s, &evzk__chubby_check_kind,
                             c->sequencer.dir, 0);
    if (rc == EVZK_OK)
        *out = c;
    return rc;
}

void evzk__check_free(struct evzk__check *c)
{
    if (c) {
        c->cb = NULL;
        evzk__machine_let_go(&c->m);
    }
}
