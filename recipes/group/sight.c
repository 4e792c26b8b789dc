/* What a look at the servers tells of a member: does its guard stand, and whose
 * are the claim and the name?
 *
 * The guard has a GUID for its name, so it is the member's own if its session
 * owns it.  The transaction that makes the others writes to the guard, too, and
 * its answer tells their czxid, which the member remembers.  If the answer was
 * lost, their czxid is the mzxid of the guard.  If somebody has deleted the
 * guard by then: the claim says in its data with which guard it was made, and
 * the name has the czxid of the claim.  If both have been deleted, it is enough
 * that the session owns the name, that no other member of the session has the
 * claim, and that no member of the same name has the name, or may find its
 * guard: the last of them to look takes the name.
 *
 * How it can fail.
 *
 * - A server lags behind: so a sync goes before each look.
 * - A write of unknown outcome may still come: then the look goes behind a
 *   write that changes nothing.  By then, all that the session ever sent has
 *   been done, or never will be.
 * - The session has expired, and its znodes still show, as their end is not
 *   committed yet.  A write is committed after that end: the look is repeated
 *   behind one.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/group/group_internal.h"

/* The steps of a look. */
enum { FIRST, GUARD, CLAIM, NAME, STEPS };

struct evzk__member_data evzk__member_latest(const struct evzk_member *d)
{
    struct evzk__create_args a = evzk__default_args(&d->m, NULL);

    if (d->next.v)
        return d->next;
    if (d->data.v)
        return d->data;
    return (struct evzk__member_data){(void *)(uintptr_t)a.data, a.len};
}

struct evzk__member_data evzk__member_take_data(struct evzk_member *d)
{
    if (d->next.v) {
        if (d->has_former)
            evzk__free(d->data.v);
        else
            d->former = d->data;
        d->has_former = true;
        d->data = d->next;
        d->next = (struct evzk__member_data){NULL, 0};
    }
    return evzk__member_latest(d);
}

void evzk__member_data_stand(struct evzk_member *d)
{
    evzk__free(d->former.v);
    d->former = (struct evzk__member_data){NULL, 0};
    d->has_former = false;
}

bool evzk__member_drop_data(struct evzk_member *d)
{
    bool had = d->has_former;

    if (!had && !d->next.v)
        return false;
    evzk__free(d->data.v);
    if (!d->next.v)
        d->too_large = d->updates;
    d->data = had ? d->former : d->next;
    if (had)
        d->former = (struct evzk__member_data){NULL, 0};
    else
        d->next = (struct evzk__member_data){NULL, 0};
    d->has_former = false;
    return true;
}

static struct evzk__step first_step(const struct evzk_member *d)
{
    if (d->behind_write)
        return (struct evzk__step){.verb = EVZK__STEP_DELETE,
                                   .name = d->guard,
                                   .versioned = true,
                                   .version = EVZK__NO_VERSION};
    return (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
}

void evzk__member_ask_sight(struct evzk_member *d, bool watched)
{
    memset(&d->sight, 0, sizeof d->sight);
    d->guard_mzxid = 0;
    d->look_rc = EVZK_OK;
    d->looked = false;
    d->behind_write = d->unsettled;
    d->step[FIRST] = first_step(d);
    d->step[GUARD] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = d->guard};
    d->step[CLAIM] =
        (struct evzk__step){.verb = EVZK__STEP_GET, .name = d->name};
    d->step[NAME] = (struct evzk__step){
        .verb = watched ? EVZK__STEP_GET : EVZK__STEP_EXISTS, .name = d->path};
    if (watched) {
        d->step[CLAIM].watch = EVZK__WITH(ON_CLAIM);
        d->step[NAME].watch = EVZK__WITH(ON_NAME);
    }
    evzk__ask(&d->m, d->step, STEPS, EVZK__EACH);
}

static bool says(const struct evzk__result *res, const void *data, size_t len)
{
    return res->len == len && (len == 0 || memcmp(res->data, data, len) == 0);
}

static void note_claim(struct evzk_member *d, const struct evzk__result *res)
{
    int64_t czxid = res->stat.czxid;
    bool known = czxid == d->claim_czxid ||
                 (d->sight.guard == GROUP_OWN && czxid == d->guard_mzxid) ||
                 says(res, d->guard, strlen(d->guard));
    bool own = known && evzk__machine_owns(&d->m, &res->stat);

    d->sight.claim = own ? GROUP_OWN : GROUP_OTHERS;
    d->sight.twin = !own && evzk__machine_owns(&d->m, &res->stat);
    d->sight.early = d->sight.early || (known && !own);
    if (own)
        d->claim_czxid = czxid;
}

/* Another member of the session, of the same name, has it; or does not know yet
 * what became of its write, and may find its guard. */
static bool may_have_name(struct evzk__machine *m, struct evzk__machine *other)
{
    const struct evzk_member *d = evzk__member_of(m), *o;

    o = evzk__member_of(other);
    return strcmp(d->path, o->path) == 0 &&
           (o->may_be_own || o->czxid == d->sight.czxid);
}

static void note_name(struct evzk_member *d, const struct evzk__result *res)
{
    struct evzk__member_data data = evzk__member_latest(d);
    int64_t czxid = d->sight.czxid = res->stat.czxid;
    bool ours = evzk__machine_owns(&d->m, &res->stat);
    bool known = czxid == d->czxid ||
                 (d->sight.guard == GROUP_OWN && czxid == d->guard_mzxid) ||
                 (d->sight.claim == GROUP_OWN && czxid == d->claim_czxid) ||
                 (d->may_be_own && ours && !d->sight.twin &&
                  !evzk__machine_has_like(&d->m, may_have_name));
    bool own = known && ours;

    d->sight.name = own ? GROUP_OWN : GROUP_OTHERS;
    d->sight.early = d->sight.early || (known && !own);
    d->sight.version = res->stat.version;
    if (!own)
        return;
    d->czxid = czxid;
    d->session = res->stat.owner;
    d->sight.as_wanted =
        d->step[NAME].verb == EVZK__STEP_GET && says(res, data.v, data.len);
}

static void note_one(struct evzk_member *d, const struct evzk__reply *reply)
{
    switch (reply->part) {
    case GUARD: /* Or somebody has put a copy in its place. */
        d->sight.guard = evzk__machine_owns(&d->m, &reply->res->stat)
                             ? GROUP_OWN
                             : GROUP_OTHERS;
        d->guard_mzxid = reply->res->stat.mzxid;
        break;
    case CLAIM:
        note_claim(d, reply->res);
        break;
    case NAME:
        note_name(d, reply->res);
        break;
    }
}

/* A claim that may not be read is another's; but then it is not watched. */
static void note_refused(struct evzk_member *d, const struct evzk__reply *reply)
{
    bool watched = d->step[NAME].verb == EVZK__STEP_GET;

    if (reply->rc == EVZK_ERR_NONODE || reply->part == FIRST)
        return;
    if (reply->part == CLAIM && reply->rc == EVZK_ERR_NOAUTH && !watched)
        d->sight.claim = GROUP_OTHERS;
    else if (d->look_rc == EVZK_OK)
        d->look_rc = reply->rc;
}

bool evzk__member_note_sight(struct evzk_member *d,
                             const struct evzk__reply *reply)
{
    if (reply->rc == EVZK_OK && reply->part != FIRST)
        note_one(d, reply);
    else
        note_refused(d, reply);
    if (!reply->last)
        return false;
    /* A step was refused.  If it was the first, the reads behind it prove
     * nothing. */
    if (reply->first_rc == EVZK_ERR_SERVER)
        d->look_rc = EVZK_ERR_SERVER;
    if (d->look_rc == EVZK_OK) {
        d->looked = true;
        d->unsettled = d->may_be_own = false;
    }
    return true;
}

bool evzk__member_may_write(struct evzk_member *d)
{
    bool may = d->looked;

    d->looked = false;
    d->unsettled = d->unsettled || may;
    return may;
}

int evzk__member_not_written(struct evzk_member *d, int rc)
{
    switch (rc) {
    case EVZK_ERR_CONNLOSS:
        return EVZK_OK;
    case EVZK_ERR_SERVER: /* The server may throttle. */
        if (d->m.tries++ >= MEMBER_TRIES)
            return rc;
        evzk__machine_pause(&d->m);
        return EVZK_OK;
    case EVZK_ERR_NOMEM: /* Not sent. */
        evzk__machine_pause(&d->m);
        break;
    case EVZK_ERR_NONODE:
    case EVZK_ERR_NODEEXISTS:
    case EVZK_ERR_BADVERSION:
        break;
    default:
        return rc;
    }
    d->unsettled = false;
    return EVZK_OK;
}
