/* A guarded write.
 *
 *   MARKING --> WRITING --> CLEANING --> ENDED
 *      ^         |  ^          ^  |
 *      |         v  |          |  v
 *      |        SETTLING ------' CHECKING
 *      `--- WRITING, if somebody has deleted the receipt before
 *
 * MARKING makes the receipt; and so does MARKING_AGAIN, when the answer was
 * lost: then the receipt may exist.  WRITING is the transaction: it writes to
 * the receipt, checks that the guard's znode exists, and does the operations.
 * The outcome is told as soon as it is known; CLEANING then deletes the receipt
 * in the background.
 *
 * How it can fail.  The answer of the transaction may be lost.  Then SETTLING
 * reads the receipt, behind a write that changes nothing: by then the
 * transaction was done, or it never will be.  The receipt has the text that
 * only the transaction writes: done.  It is the very same znode, of the version
 * before: not done, so that the transaction may be sent once more.  All else is
 * no proof: an operator may have deleted the receipt, written to it, or put a
 * copy in its place.  Then the outcome is told as unknown; and so it is if the
 * session ends before the answer comes, since the receipt ends with it.
 *
 * The receipt must exist before the transaction.  If the transaction made it,
 * a receipt that is missing could be one that an operator has deleted, and a
 * second try might do the write twice.
 *
 * A receipt that was not seen in the present connection may have been replaced
 * by a copy: CHECKING looks before CLEANING deletes it.  A receipt that an
 * operator has written to before the transaction is left: it goes with the
 * session.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/guard/guard_internal.h"
#include "recipes/kinds.h"

enum {
    MARKING,
    MARKING_AGAIN,
    WRITING,
    SETTLING,
    CLEANING,
    CHECKING,
    ENDED,
    STATES
};

/* How often a receipt is made anew, and a write that no operation is to blame
 * for is sent again. */
enum { TRIES = 8 };

/* May free the write: touches nothing after. */
static void tell(struct evzk_guard *g, int rc)
{
    evzk_session *s = evzk__machine_session(&g->m);
    evzk_guard_result result = {.failed = g->n};
    int64_t begun;

    if (g->told)
        return;
    g->told = true;
    evzk__machine_no_deadline(&g->m);
    if (g->outcome == EVZK_GUARD_DONE) {
        result.zxid = g->zxid;
        result.version = g->versions;
    } else if (g->outcome == EVZK_GUARD_FAILED)
        result.failed = g->failed;
    begun = evzk__machine_call_out(s);
    if (g->cb)
        g->cb(g, g->outcome, rc, &result, g->arg);
    evzk__machine_called(s, begun);
}

/* The machine stops, or has ended, before the outcome was found out. */
static void tell_now(struct evzk_guard *g)
{
    bool known = g->outcome == EVZK_GUARD_DONE || g->rc != EVZK_OK;

    tell(g, known ? g->rc : g->m.rc);
}

static void note(struct evzk_guard *g, evzk_guard_outcome outcome, int rc)
{
    g->outcome = outcome;
    g->rc = rc;
}

static int found_out(struct evzk_guard *g, evzk_guard_outcome outcome, int rc)
{
    note(g, outcome, rc);
    return evzk__machine_move(&g->m, CLEANING);
}

/* The receipt. */

static void mark(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);
    struct evzk__create_args session = evzk__default_args(m, NULL);

    g->look[0] = (struct evzk__step){.verb = EVZK__STEP_CREATE,
                                     .mode = EVZK__EPHEMERAL,
                                     .name = g->receipt,
                                     .acl = g->acl.v ? g->acl.v : session.acl,
                                     .acl_count = g->acl.v ? g->acl.n
                                                           : session.acl_count};
    evzk__ask(m, g->look, 1, 0);
}

static int marked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);

    switch (e->reply->rc) {
    case EVZK_OK:
        m->place.own_verified = true;
        return evzk__machine_move(m, WRITING);
    case EVZK_ERR_NODEEXISTS: /* By an earlier try: nobody else has its name. */
        return evzk__machine_move(m, WRITING);
    case EVZK_ERR_CONNLOSS:
    case EVZK_ERR_SERVER:
        return m->state == MARKING ? evzk__machine_move(m, MARKING_AGAIN)
                                   : e->reply->rc;
    case EVZK_ERR_NOMEM: /* Not sent. */
        return evzk__machine_again_later(m);
    case EVZK_ERR_NONODE: /* The guard's directory is missing. */
        note(g, EVZK_GUARD_REFUSED, EVZK_ERR_NODEGONE);
        return evzk__machine_finish(m, EVZK_OK);
    default:
        return e->reply->rc;
    }
}

/* Somebody has deleted the receipt, or written to it, before the transaction:
 * nothing was done. */
static int mark_anew(struct evzk_guard *g, int rc)
{
    if (g->m.tries++ == TRIES || evzk__guid(g->receipt) != EVZK_OK)
        return found_out(g, EVZK_GUARD_FAILED, rc);
    strcat(g->receipt, EVZK__GUARD_RECEIPT);
    note(g, EVZK_GUARD_FAILED, EVZK_OK);
    return evzk__machine_move(&g->m, MARKING);
}

/* The transaction. */

static void give_acls(struct evzk_guard *g)
{
    struct evzk__create_args session = evzk__default_args(&g->m, NULL);

    for (size_t i = 0; i < g->n; i++) {
        struct evzk__step *step = &g->step[EVZK__GUARD_OPS + i];

        step->acl = g->acls[i].v ? g->acls[i].v : session.acl;
        step->acl_count = g->acls[i].v ? g->acls[i].n : session.acl_count;
    }
}

static void write_all(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    give_acls(g);
    note(g, EVZK_GUARD_UNKNOWN, EVZK_OK);
    g->step[EVZK__GUARD_MARK] =
        (struct evzk__step){.verb = EVZK__STEP_SET,
                            .name = g->receipt,
                            .versioned = true,
                            .data = g->receipt,
                            .len = (uint32_t)strlen(g->receipt)};
    evzk__ask(m, g->step, (uint32_t)g->n + EVZK__GUARD_OPS,
              EVZK__COMMIT | EVZK__JOIN);
}

static int done(struct evzk_guard *g, int64_t zxid)
{
    g->zxid = zxid;
    return found_out(g, EVZK_GUARD_DONE, EVZK_OK);
}

/* The servers have refused a step: nothing was done. */
static int refused(struct evzk_guard *g, uint32_t part, int rc)
{
    if (part == EVZK__GUARD_MARK)
        return mark_anew(g, rc);
    if (part == EVZK__GUARD_CHECK_IT && rc == EVZK_ERR_NONODE)
        return found_out(g, EVZK_GUARD_REFUSED, EVZK_ERR_NODEGONE);
    if (part >= EVZK__GUARD_OPS)
        g->failed = part - EVZK__GUARD_OPS;
    return found_out(g, EVZK_GUARD_FAILED, rc);
}

static int written(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->rc == EVZK_OK)
        return done(g, reply->res->stat.czxid);
    if (reply->rc == EVZK_ERR_NOMEM) /* Not sent. */
        return evzk__machine_again_later(m);
    if (reply->rc != EVZK_ERR_CONNLOSS && reply->part < g->n + EVZK__GUARD_OPS)
        return refused(g, reply->part, reply->rc);
    if (reply->rc != EVZK_ERR_CONNLOSS && m->tries++ == TRIES)
        return found_out(g, EVZK_GUARD_UNKNOWN, reply->rc);
    return evzk__machine_move(m, SETTLING);
}

/* Reads the receipt, behind all that the session ever wrote. */
static void look(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    g->look[0] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = g->nobody};
    g->look[1] =
        (struct evzk__step){.verb = EVZK__STEP_GET, .name = g->receipt};
    evzk__ask(m, g->look, 2, 0);
}

static bool is_marked(const struct evzk_guard *g,
                      const struct evzk__result *res)
{
    return res->len == strlen(g->receipt) &&
           memcmp(res->data, g->receipt, res->len) == 0;
}

static bool is_own(struct evzk_guard *g, const struct evzk__reply *reply)
{
    if (reply->rc != EVZK_OK || !evzk__machine_owns(&g->m, &reply->res->stat))
        return false;
    g->m.place.own_verified = true;
    return true;
}

static int settled(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);
    const struct evzk__reply *reply = e->reply;
    bool own = is_own(g, reply);

    if (reply->first_rc == EVZK_ERR_SERVER) /* The read proves nothing. */
        return found_out(g, EVZK_GUARD_UNKNOWN, EVZK_ERR_SERVER);
    if (reply->rc == EVZK_OK && is_marked(g, reply->res))
        return done(g, own ? reply->res->stat.mzxid : 0);
    if (own && reply->res->stat.version == 0)
        return evzk__machine_move(m, WRITING);
    return found_out(g, EVZK_GUARD_UNKNOWN,
                     reply->rc == EVZK_ERR_NOAUTH ? EVZK_ERR_NOAUTH
                                                  : EVZK_ERR_CONNLOSS);
}

/* The receipt goes. */

static void clean(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    if (!m->place.own_verified) {
        evzk__machine_move(m, CHECKING);
        return;
    }
    evzk__delete(m, g->receipt, NULL);
    tell_now(g);
}

static int cleaned(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_finish(m, m->rc);
}

static void check(struct evzk__machine *m)
{
    look(m);
    tell_now(evzk__guard_of(m));
}

static int checked(struct evzk__machine *m, const struct evzk__event *e)
{
    return is_own(evzk__guard_of(m), e->reply) ? evzk__machine_move(m, CLEANING)
                                               : evzk__machine_finish(m, m->rc);
}

static void end(struct evzk__machine *m) { tell_now(evzk__guard_of(m)); }

static void on_deadline(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    tell_now(evzk__guard_of(m));
}

void evzk__guard_destroy(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    for (size_t i = 0; g->acls && i < g->n; i++)
        evzk__acl_free(&g->acls[i]);
    for (size_t i = 0; i < g->n; i++) {
        evzk__free((void *)(uintptr_t)g->step[EVZK__GUARD_OPS + i].name);
        evzk__free((void *)(uintptr_t)g->step[EVZK__GUARD_OPS + i].data);
    }
    evzk__free(g->acls);
    evzk__free(g->versions);
    evzk__free(g->guard);
    evzk__acl_free(&g->acl);
    evzk__free(g);
}

/* NEVER: a session's end comes behind the loss of a connection, which leads to
 * CHECKING. */
/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry      reaction  main      on stop   on expiry  flags */
ROW(MARKING,  mark,      marked,   WRITING,  CHECKING, MARKING,   NOTHING_SENT,
    ON(REPLY, WRITING, MARKING_AGAIN, ENDED, FAIL), RARELY(REPLY, MARKING)),
ROW(MARKING_AGAIN, mark, marked,   ASIDE,    CHECKING, MARKING,   RETRY,
    ON(REPLY, WRITING, ENDED, FAIL)),
ROW(WRITING,  write_all, written,  CLEANING, CLEANING, ENDED,     0,
    ON(REPLY, CLEANING, SETTLING, MARKING),
    RARELY(REPLY, WRITING)),
ROW(SETTLING, look,      settled,  ASIDE,    CLEANING, ENDED,     RETRY,
    ON(REPLY, WRITING, CLEANING)),
ROW(CLEANING, clean,     cleaned,  ENDED,    STAY,     ENDED,     RETRY,
    ON(ENTRY, CHECKING),
    ON(REPLY, ENDED),
    ON(STOP,  ENDED),
    ON(EXPIRED, NEVER)),
ROW(CHECKING, check,     checked,  ASIDE,    STAY,     ENDED,     RETRY,
    ON(REPLY, CLEANING, ENDED),
    ON(STOP,  CLEANING, ENDED)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__guard_kind = {.name = "guard",
                                            .rows = rows,
                                            .n_rows = STATES,
                                            .on_deadline = on_deadline,
                                            .destroy = evzk__guard_destroy};
