/* Asks the contenders in the way to let go, waits for them, and, if the caller
 * wants it, deletes the znodes of those that do not let go.
 *
 *   LISTING --> READING <--> ASKING --> WAITING <--> REMOVING
 *                                          |
 *                                          v
 *                                        ENDED
 *
 * Each znode is read first.  It is written to only if it still has the version
 * that was read, and has no request to let go yet.  So each contender is asked
 * once, even if the answer to the write is lost: the second read shows the
 * request.  Then the znodes are watched one after another until they are gone;
 * a znode that goes earlier is found gone when its turn comes.  The grace time
 * begins when all have been asked.
 *
 * The same steps, with a znode's own data instead of the request and without a
 * wait, notify the znode's owner: see recipes/lock/priority.c.
 *
 * How it can fail.  A contender that comes after the listing is not asked.  A
 * delete of unknown outcome is sent again: if the znode is gone then, it counts
 * as removed, though its owner may have deleted it.  The end of our session
 * changes nothing: the names stay the same.
 */
#include "recipes/lock/revoke_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"

enum { LISTING, READING, ASKING, WAITING, REMOVING, ROOTING, ENDED, STATES };

static void list(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    if (r->notify) {
        evzk__machine_move(m, READING);
        return;
    }
    evzk__revoke_clear(r);
    evzk__sync_list(m);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);
    int rc = e->reply->rc;

    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (rc == EVZK_OK)
        rc = evzk__revoke_choose(r, &e->reply->res->names);
    if (rc == EVZK_ERR_NONODE && evzk__chroot_unsure(m))
        return evzk__machine_move(m, ROOTING);
    if (rc == EVZK_ERR_NONODE || (rc == EVZK_OK && r->n == 0))
        return evzk__machine_finish(m, EVZK_OK); /* None is in the way. */
    return rc != EVZK_OK ? rc : evzk__machine_move(m, READING);
}

/* The directory does not exist: does the chroot? */
static int rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    return rc != EVZK_OK ? rc : evzk__machine_finish(m, EVZK_OK);
}

/* Reads the znodes that still exist, as far as we know. */
static void read_all(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);
    uint32_t n = 0;

    r->read_again = false;
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->target[i].is == TARGET_GONE)
            continue;
        r->index[n] = i;
        r->names[n++] = (char *)(uintptr_t)r->v[i].node;
    }
    if (n > 0)
        evzk__read_many(m, r->names, n);
    else
        evzk__machine_finish(m, EVZK_OK);
}

static void gone(struct evzk_lock_revoke *r, uint32_t i)
{
    r->target[i].is = TARGET_GONE;
    r->v[i].how =
        r->target[i].delete_sent ? EVZK_REVOKED_REMOVED : EVZK_REVOKED_YIELDED;
}

static int keep_data(struct evzk__revoke_target *t,
                     const struct evzk__result *res)
{
    evzk__free(t->data);
    t->data = evzk__memdup(res->data, res->len);
    t->len = (uint32_t)res->len;
    return t->data ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int note_read(struct evzk_lock_revoke *r, struct evzk__revoke_target *t,
                     const struct evzk__result *res)
{
    bool word = res->len == strlen(EVZK__UNLOCK) &&
                memcmp(res->data, EVZK__UNLOCK, res->len) == 0;

    t->version = res->stat.version;
    /* A znode whose own data (version 0) is the same word is asked all the
     * same; but it is not written again to notify its owner. */
    t->is =
        !word || (t->version == 0 && !r->notify) ? TARGET_TO_ASK : TARGET_THERE;
    return r->notify && t->is == TARGET_TO_ASK ? keep_data(t, res) : EVZK_OK;
}

/* Notes an answer.  False: more are to come. */
static bool note_answer(struct evzk_lock_revoke *r,
                        const struct evzk__reply *reply)
{
    uint32_t i = r->index[reply->part];
    struct evzk__revoke_target *t = &r->target[i];
    int rc = reply->rc;

    if (rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_BADVERSION)
        r->read_again = true;
    else if (rc == EVZK_ERR_NONODE)
        gone(r, i);
    else if (rc == EVZK_OK && r->m.state == READING)
        rc = note_read(r, t, reply->res);
    else if (rc == EVZK_OK)
        t->is = TARGET_THERE;
    if (rc != EVZK_OK && !r->read_again && t->is != TARGET_GONE)
        r->failed = rc;
    return reply->last;
}

static int answered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    if (!note_answer(r, e->reply))
        return EVZK_OK;
    if (r->failed)
        return r->failed;
    if (r->read_again)
        return evzk__machine_move(m, READING);
    return evzk__machine_move(m, m->state == READING ? ASKING : WAITING);
}

static void ask(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        const struct evzk__revoke_target *t = &r->target[i];

        if (t->is != TARGET_TO_ASK)
            continue;
        r->index[n] = i;
        r->set[n++] = (struct evzk__step){
            .verb = EVZK__STEP_SET,
            .name = r->v[i].node,
            .data = r->notify ? t->data : EVZK__UNLOCK,
            .len = r->notify ? t->len : (uint32_t)strlen(EVZK__UNLOCK),
            .versioned = true,
            .version = t->version};
    }
    if (n > 0)
        evzk__ask(m, r->set, n, EVZK__EACH);
    else
        evzk__machine_move(m, WAITING);
}

/* Goes to the next target that is not gone. */
static bool skip_gone(struct evzk_lock_revoke *r)
{
    while (r->at < r->n && r->target[r->at].is == TARGET_GONE)
        r->at++;
    return r->at < r->n;
}

static void wait_for(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    if (r->notify || !skip_gone(r)) {
        evzk__machine_finish(m, EVZK_OK);
        return;
    }
    if (r->grace && !r->grace_runs) {
        r->grace_runs = true;
        evzk__timer_set(r->grace, r->opt.grace_ms * INT64_C(1000));
    }
    if (!evzk__watch_listed(&m->place.pred_watch))
        evzk__watch(m, NULL, false, r->v[r->at].node);
}

static int next(struct evzk_lock_revoke *r)
{
    gone(r, r->at);
    evzk__unwatch_pred(&r->m); /* Its events are no news any more. */
    return evzk__machine_again(&r->m);
}

static int awaited(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    switch (e->type) {
    case EVZK__EV_REPLY:
        return e->reply->rc == EVZK_ERR_NONODE ? next(r) : e->reply->rc;
    case EVZK__EV_DELETED:
        return next(r);
    case EVZK__EV_USER: /* The grace time is over. */
        return evzk__machine_move(m, REMOVING);
    case EVZK__EV_CHANGED: /* Got a child: the watch is used up. */
        return evzk__machine_again(m);
    case EVZK__EV_LINGERED:
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}

static void drop(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    if (!skip_gone(r))
        evzk__machine_finish(m, EVZK_OK);
    else
        evzk__remove(m, r->v[r->at].node);
}

static int dropped(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    if (e->reply->rc == EVZK_ERR_CONNLOSS || e->reply->rc == EVZK_OK)
        r->target[r->at].delete_sent = true;
    if (e->reply->rc == EVZK_ERR_CONNLOSS && !m->stopping)
        return evzk__machine_again(m);
    if (m->stopping) {
        if (e->reply->rc == EVZK_OK || e->reply->rc == EVZK_ERR_NONODE)
            gone(r, r->at);
        return evzk__machine_finish(m, m->rc);
    }
    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return e->reply->rc;
    return next(r);
}

static void end(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);

    if (r->cb)
        r->cb(r, m->rc, r->n ? r->v : NULL, r->n, r->arg);
    evzk__machine_called(s, begun);
}

/* The loop may be freed before this object. */
static void detach(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    evzk__timer_free(r->grace);
    r->grace = NULL;
}

static void late(struct evzk__machine *m)
{
    if (m->stopping)
        return;
    /* If a delete is under way, the report waits for its answer. */
    if (m->state == REMOVING && evzk__place_awaits_answer(&m->place))
        evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    else
        evzk__machine_finish(m, EVZK_ERR_TIMEOUT);
}

/* A cancel, too. */
static void on_stop(struct evzk__machine *m, const struct evzk__reply *reply)
{
    if (m->state != REMOVING)
        evzk__machine_stop_at_once(m, reply);
}

static void destroy(struct evzk__machine *m)
{
    struct evzk_lock_revoke *r = evzk__revoke_of(m);

    evzk__revoke_clear(r);
    evzk__timer_free(r->grace);
    evzk__free(r->before);
    evzk__free(r);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/* LISTING moves on at once if contenders are only notified.
 *  state     entry              reaction  main     on stop  on expiry  flags */
ROW(LISTING,  list,              listed,   READING, ENDED,   LISTING,   NOTHING_SENT|RETRY,
    RARELY(ENTRY,    READING),
    ON(REPLY,        READING, ROOTING, ENDED, FAIL),
    ON(DEADLINE,     ENDED)),
ROW(READING,  read_all,          answered, ASKING,  ENDED,   READING,   0,
    RARELY(ENTRY,    ENDED),
    ON(REPLY,        ASKING, READING, FAIL, HERE),
    ON(DEADLINE,     ENDED)),
ROW(ASKING,   ask,               answered, WAITING, ENDED,   READING,   0,
    ON(ENTRY,        WAITING),
    ON(REPLY,        WAITING, READING, FAIL, HERE),
    ON(DEADLINE,     ENDED)),
ROW(WAITING,  wait_for,          awaited,  ENDED,   ENDED,   WAITING,   RETRY,
    ON(ENTRY,        ENDED),
    ON(REPLY,        WAITING, HERE),
    RARELY(REPLY,    FAIL),
    ON(PRED_DELETED, WAITING),
    ON(PRED_CHANGED, WAITING),
    ON(USER_EVENT,   REMOVING),
    ON(DEADLINE,     ENDED)),
ROW(REMOVING, drop,              dropped,  ASIDE,   STAY,    REMOVING,  NOTHING_SENT,
    ON(ENTRY,        ENDED),
    ON(REPLY,        REMOVING, FAIL),
    ON(STOP,         ENDED),
    ON(DEADLINE,     ENDED)),
ROW(ROOTING,  evzk__look_chroot, rooted,   ASIDE,   ENDED,   LISTING,   RETRY,
    ON(REPLY,        ENDED, FAIL),
    RARELY(DEADLINE, ENDED)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__lock_revoke_kind = {.name = "lock-revoke",
                                                  .rows = rows,
                                                  .n_rows = STATES,
                                                  .on_deadline = late,
                                                  .on_stop = on_stop,
                                                  .destroy = destroy,
                                                  .detach = detach};
