/* Sets a barrier: makes its znode.
 *
 *   LOOKING <--> MAKING_PARENTS
 *    |  |           ^
 *    |  v           |
 *    | SETTING -----'
 *    |  ^  |
 *    |  |  v
 *    | SETTLING --> ENDED
 *    |               ^
 *    `---------------'
 *
 * How it can fail.  A create of unknown outcome may have been done, and another
 * process may have lifted the barrier since: to make it again would set it
 * behind that lift.  So the pzxid of the znode above is read before the create:
 * it changes with each child that comes or goes.  SETTLING reads it again,
 * behind a write that changes nothing: all that the session ever sent has been
 * done by then, or never will be.  The same pzxid: nothing was made.  Another
 * pzxid: the outcome stays unknown, and the caller hears so.
 */
#include "lib/machine/rows.h"
#include "recipes/barrier/barrier_internal.h"
#include "recipes/kinds.h"

/* A container may go away between the making and our create; not for ever. */
enum { PARENTS_TRIES = 8 };

enum { LOOKING, MAKING_PARENTS, SETTING, SETTLING, ENDED, STATES };

/* Which step of those of LOOKING and SETTLING. */
enum { FIRST, ABOVE, OWN };

static void read_both(struct evzk_barrier *b, struct evzk__step first)
{
    b->steps[FIRST] = first;
    b->steps[ABOVE] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = b->above};
    b->steps[OWN] = (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = ""};
    evzk__ask(&b->m, b->steps, 3, EVZK__EACH);
}

static void look(struct evzk__machine *m)
{
    read_both(evzk__barrier_of(m),
              (struct evzk__step){.verb = EVZK__STEP_SYNC, .name = ""});
}

static void settle(struct evzk__machine *m)
{
    struct evzk_barrier *b = evzk__barrier_of(m);

    b->nothing_made = false; /* Until a reply says so. */
    read_both(
        b, (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = b->nobody});
}

enum { MISSING = -1 };

static int64_t pzxid_of(const struct evzk__reply *reply)
{
    return reply->rc == EVZK_OK ? reply->res->stat.pzxid : MISSING;
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_barrier *b = evzk__barrier_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == ABOVE)
        b->above_pzxid = pzxid_of(reply);
    if (!reply->last)
        return EVZK_OK;
    /* A step was not answered.  If it was the first, the reads behind it prove
     * nothing. */
    if (reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NONODE)
        return reply->first_rc;
    if (reply->rc == EVZK_OK)
        return evzk__machine_finish(m, EVZK_OK);
    if (reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    return evzk__machine_move(m, b->above_pzxid == MISSING ? MAKING_PARENTS
                                                           : SETTING);
}

/* What the znode, and directories above it, are made with. */
static struct evzk__create_args args_of(struct evzk_barrier *b)
{
    struct evzk__create_args a = evzk__args_with_acl(&b->m, NULL, &b->acl);

    if (b->data) {
        a.data = b->data;
        a.len = b->len;
    }
    return a;
}

static void make_parents(struct evzk__machine *m)
{
    struct evzk__create_args args = args_of(evzk__barrier_of(m));

    evzk__parents(m, &args);
}

static int parents_made(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    if (m->tries++ == PARENTS_TRIES)
        return EVZK_ERR_NONODE;
    return evzk__machine_move(m, LOOKING);
}

static void set(struct evzk__machine *m)
{
    struct evzk_barrier *b = evzk__barrier_of(m);
    struct evzk__create_args a = args_of(b);

    b->steps[FIRST] = (struct evzk__step){.verb = EVZK__STEP_CREATE,
                                          .mode = EVZK__PERSISTENT,
                                          .name = "",
                                          .data = a.data,
                                          .len = a.len,
                                          .acl = a.acl,
                                          .acl_count = a.acl_count};
    evzk__ask(m, b->steps, 1, 0);
}

static int set_done(struct evzk__machine *m, const struct evzk__event *e)
{
    switch (e->reply->rc) {
    case EVZK_OK:
    case EVZK_ERR_NODEEXISTS:
        return evzk__machine_finish(m, EVZK_OK);
    case EVZK_ERR_NONODE:
        return evzk__machine_move(m, MAKING_PARENTS);
    case EVZK_ERR_CONNLOSS:
        return evzk__machine_move(m, SETTLING);
    default:
        return e->reply->rc;
    }
}

static int settled(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_barrier *b = evzk__barrier_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == ABOVE)
        b->nothing_made = pzxid_of(reply) == b->above_pzxid;
    if (!reply->last)
        return EVZK_OK;
    if (reply->rc == EVZK_OK) /* A sighting, whatever was refused before it. */
        return evzk__machine_finish(m, EVZK_OK);
    if (reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (reply->first_rc == EVZK_ERR_SERVER)
        return evzk__machine_refused(m, reply);
    return b->nothing_made ? evzk__machine_move(m, SETTING) : EVZK_ERR_CONNLOSS;
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state           entry         reaction      main     on stop  on expiry  flags */
ROW(LOOKING,        look,         looked,       SETTING, ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY, SETTING, MAKING_PARENTS, ENDED, HERE, FAIL)),
ROW(MAKING_PARENTS, make_parents, parents_made, ASIDE,   ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY, LOOKING, FAIL)),
ROW(SETTING,        set,          set_done,     ENDED,   ENDED,   SETTLING,  NOTHING_SENT,
    ON(REPLY, ENDED, MAKING_PARENTS, SETTLING, FAIL)),
ROW(SETTLING,       settle,       settled,      ASIDE,   ENDED,   SETTLING,  RETRY|NOTHING_SENT|SIGHTS,
    ON(REPLY, SETTING, ENDED, HERE, FAIL)),
END(ENDED,          evzk__barrier_end),
};
/* clang-format on */

const struct evzk__kind evzk__barrier_set_kind = {
    .name = "barrier-set",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = evzk__barrier_on_deadline,
    .on_stop = evzk__barrier_on_stop,
    .destroy = evzk__barrier_destroy};
