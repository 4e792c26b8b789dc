/* How an attempt that has the turn gets its lease.
 *
 *   COUNTING <--> MAKING_DIR
 *    |  ^
 *    |  `--> WAITING      as many leases as may be are held
 *    v         |
 *   TAKING <---'
 *    |
 *    v
 *   ADOPTING              was the lease made?
 *
 * A number that is read in COUNTING or WAITING may be old, but is not too small
 * while the attempt has its turn: whoever made a lease gave the turn away
 * afterwards, and this attempt has seen that.  An attempt that has lost its
 * turn may count too few, behind a server that lags.  Its transaction fails
 * then: the lock's znode is gone, or the directory has another version.
 *
 * The transaction of TAKING checks the lock, and writes to the directory of the
 * leases by the version that it had when they were counted.  So no lease was
 * made in between, even if an operator has put a copy in the place of a lock's
 * znode, and two attempts have the turn.
 *
 * A transaction whose answer was lost is not sent again: ADOPTING looks whether
 * it was done, behind a write that changes nothing, and if not, the leases are
 * counted again.  A lease that is seen there is the attempt's, also where that
 * write was refused.
 *
 * How it can fail.  A directory that was removed and made anew has its first
 * version again.  So an old number can pass, where all that happens between the
 * count and the transaction, and an operator puts a copy in the place of the
 * lock's znode, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/order.h"
#include "recipes/parts/dialect.h"
#include "recipes/semaphore/semaphore_internal.h"

/* An empty container may go away before its first lease; not for ever. */
enum { DIR_TRIES = 8 };

/* The steps of TAKING. */
enum { TURN, DIR, LEASE, STEPS };

/* A fresh GUID, and the number of the turn.  A lease of Kazoo's is a GUID. */
static int name_lease(struct evzk_semaphore *p)
{
    const char *slash = strrchr(p->turn_node, '/');
    int rc = evzk__dialect_guid(p->dialect, p->name);
    int32_t seq;

    if (rc != EVZK_OK || p->dialect == EVZK_DIALECT_KAZOO)
        return rc;
    if (!evzk__seq_parse(slash + 1, "-lock-", &seq))
        return EVZK_ERR_INTERNAL;
    sprintf(p->name + strlen(p->name), EVZK__SEMAPHORE_LEASE "%010" PRId32,
            seq);
    return EVZK_OK;
}

/* Leases of other libraries that have such names count, too.  To Kazoo, all
 * znodes in the directory are leases. */
static uint32_t held_in(const struct evzk_semaphore *p,
                        const struct evzk__names *names)
{
    uint32_t n = 0;
    int32_t seq;

    if (p->dialect == EVZK_DIALECT_KAZOO)
        return (uint32_t)names->n;
    for (size_t i = 0; i < names->n; i++)
        n += evzk__seq_parse(names->v[i], EVZK__SEMAPHORE_LEASE, &seq);
    return n;
}

/* Kazoo's directory has the number of leases as its data. */
static void list(struct evzk_semaphore *p, uint8_t watch)
{
    uint32_t n = 0;

    p->other_number = false;
    if (p->dialect == EVZK_DIALECT_KAZOO)
        p->step[n++] = (struct evzk__step){.verb = EVZK__STEP_GET, .name = ""};
    p->step[n++] = (struct evzk__step){
        .verb = EVZK__STEP_CHILDREN, .name = "", .watch = watch};
    evzk__ask(&p->m, p->step, n, n > 1 ? EVZK__EACH : 0);
}

/* The answer to the first of two steps. */
static bool is_of_number(const struct evzk_semaphore *p,
                         const struct evzk__event *e)
{
    return p->dialect == EVZK_DIALECT_KAZOO && e->type == EVZK__EV_REPLY &&
           e->reply->part == 0;
}

static int note_number(struct evzk_semaphore *p, const struct evzk__reply *r)
{
    p->other_number =
        r->rc == EVZK_OK &&
        evzk__kazoo_other_number(p->leases, r->res->data, r->res->len);
    return r->last ? r->rc : EVZK_OK;
}

void evzk__semaphore_count(struct evzk__machine *m)
{
    list(evzk__semaphore_of(m), 0);
}

/* The lock is lost, or the user has canceled: while a request is under way, no
 * row hears so. */
static int lose_turn(struct evzk_semaphore *p)
{
    return evzk__semaphore_requeue(p, p->turn_rc);
}

static int seen(struct evzk_semaphore *p, const struct evzk__reply *reply,
                int full)
{
    if (reply->rc == EVZK_ERR_NONODE)
        return p->m.tries++ < DIR_TRIES ? evzk__machine_move(&p->m, MAKING_DIR)
                                        : EVZK_ERR_NONODE;
    if (reply->rc != EVZK_OK)
        return reply->rc;
    if (!p->turn || p->canceled)
        return lose_turn(p);
    if (p->other_number)
        return EVZK_ERR_BADDATA;
    p->version = reply->res->stat.version;
    if (held_in(p, &reply->res->names) >= p->leases)
        return full;
    return name_lease(p) == EVZK_OK ? evzk__machine_move(&p->m, TAKING)
                                    : EVZK_ERR_INTERNAL;
}

int evzk__semaphore_counted(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);
    int rc;

    if (is_of_number(p, e))
        return note_number(p, e->reply);
    rc = seen(p, e->reply, EVZK_ERR_BUSY);
    return rc == EVZK_ERR_BUSY && !p->try_once ? evzk__machine_move(m, WAITING)
                                               : rc;
}

void evzk__semaphore_make_dir(struct evzk__machine *m)
{
    struct evzk__create_args args = evzk__semaphore_args(evzk__semaphore_of(m));

    evzk__own_dir_for(m, &args);
}

int evzk__semaphore_dir_made(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    return e->reply->rc != EVZK_OK ? e->reply->rc
                                   : evzk__machine_move(m, COUNTING);
}

void evzk__semaphore_wait(struct evzk__machine *m)
{
    list(evzk__semaphore_of(m), EVZK__WITH(ON_LEASES));
}

int evzk__semaphore_waited(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    if (is_of_number(p, e))
        return note_number(p, e->reply);
    if (e->type == EVZK__EV_USER)
        return p->turn && !p->canceled ? EVZK_OK : lose_turn(p);
    return e->type == EVZK__EV_REPLY ? seen(p, e->reply, EVZK_OK)
                                     : evzk__machine_move(m, COUNTING);
}

void evzk__semaphore_take(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);
    struct evzk__create_args args = evzk__semaphore_args(p);

    if (p->may_stand) { /* Its answer was lost. */
        evzk__machine_move(m, ADOPTING);
        return;
    }
    p->token = 0;
    p->may_stand = true;
    p->step[TURN] =
        (struct evzk__step){.verb = EVZK__STEP_CHECK, .name = p->turn_node};
    p->step[DIR] = (struct evzk__step){.verb = EVZK__STEP_SET,
                                       .name = "",
                                       .versioned = true,
                                       .version = p->version};
    if (p->dialect == EVZK_DIALECT_KAZOO) { /* Kazoo compares its own number. */
        p->step[DIR].data = p->number;
        p->step[DIR].len = (uint32_t)strlen(p->number);
    }
    p->step[LEASE] = (struct evzk__step){.verb = EVZK__STEP_CREATE,
                                         .mode = EVZK__EPHEMERAL,
                                         .name = p->name,
                                         .data = args.data,
                                         .len = args.len,
                                         .acl = args.acl,
                                         .acl_count = args.acl_count};
    evzk__ask(m, p->step, STEPS, EVZK__COMMIT | EVZK__SOON);
}

static int made(struct evzk_semaphore *p, int64_t czxid)
{
    p->token = (uint64_t)czxid;
    p->m.tries = 0;
    p->m.place.own_verified = true;
    return evzk__machine_move(&p->m,
                              p->m.stopping || p->canceled ? DELETING : HELD);
}

int evzk__semaphore_taken(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->rc == EVZK_OK)
        return made(p, reply->res->stat.czxid);
    if (reply->rc == EVZK_ERR_NONODE && reply->part == DIR) {
        p->may_stand = false;
        return m->stopping ? evzk__semaphore_finish(p, m->rc)
                           : evzk__machine_move(m, COUNTING);
    }
    if (reply->rc == EVZK_ERR_NONODE && reply->part == TURN)
        evzk__semaphore_turn_gone(p);
    else if (reply->rc != EVZK_ERR_BADVERSION &&
             reply->rc != EVZK_ERR_NODEEXISTS) /* An operator's copy. */
        return evzk__machine_give_up(m, reply->rc, ADOPTING);
    return evzk__machine_move(m, ADOPTING);
}

void evzk__semaphore_look(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    p->step[0] = (struct evzk__step){.verb = EVZK__STEP_DELETE,
                                     .name = "no" EVZK__SEMAPHORE_LEASE};
    p->step[1] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = p->name};
    evzk__ask(m, p->step, 2, EVZK__SOON);
}

int evzk__semaphore_adopted(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->rc == EVZK_OK && evzk__semaphore_owns(p, &reply->res->stat))
        return made(p, reply->res->stat.czxid);
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return evzk__machine_finish(m, reply->rc);
    if (reply->first_rc == EVZK_ERR_SERVER)
        return evzk__machine_refused(m, reply);
    p->may_stand = false;
    return m->stopping ? evzk__semaphore_finish(p, m->rc)
                       : evzk__semaphore_requeue(p, EVZK_ERR_NODEGONE);
}
