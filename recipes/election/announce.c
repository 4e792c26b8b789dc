/* How the first candidate of an election announces that it leads: by a znode
 * `leader` beside its own, made in a transaction that is done only while its
 * own znode exists.
 *
 *     check <own>
 *     create leader     (ephemeral: "<epoch> <own>", and its data)
 *
 *   ELECTED --> ANNOUNCING --> LEADING <--> REANNOUNCING
 *                   |  ^          ^
 *                   v  |          |
 *                REPLACING -------'
 *
 * So no candidate announces itself that is not first.  A `leader` znode that
 * exists already is that of an earlier leader, whose own znode another client
 * deleted; or this leader has made it before.  It is replaced, in the same
 * transaction (REPLACING; or REANNOUNCING, by a candidate that leads already).
 * When the leader leaves, one transaction deletes `leader` and its own znode:
 * the next leader finds none.
 *
 * ELECTED and LEADING have VERIFYING and VERIFYING_LEADER beside them, as HELD
 * of a lock has: see lock/held.c.  Before an attempt the own znode is read,
 * unless it is known to exist; and always before another leader's znode is
 * replaced: CHECKING_ELECTED, CHECKING_RIVAL, CHECKING_LEADING.
 *
 * How it can fail.  Whether the create was done may be unknown: then the
 * `leader` znode is made again, and replaces the first.  A reader of `leader`
 * must check that the znode which it names exists: see observer.c.
 */
#include "recipes/lock/states.h"

static bool wants_to_verify(const struct evzk_lock *l)
{
    return l->m.in_doubt || l->watch_anew ||
           (evzk__lock_is(l, LOCK_WATCHES_OWN) &&
            !evzk__watch_armed(&l->m.place.own_watch));
}

/* Verifies in doubt, or if the own watch is missing: when the leader resigns,
 * it must know that no other candidate leads yet. */
void evzk__election_lead(struct evzk__machine *m)
{
    if (m->in_doubt || lock_of(m)->watch_anew)
        evzk__machine_move(m, VERIFYING_LEADER);
}

static int go_on(struct evzk_lock *l)
{
    if (l->reported != REPORTED_LEADING)
        return evzk__lock_go_on(l);
    return evzk__machine_move(&l->m,
                              wants_to_verify(l) ? VERIFYING_LEADER : LEADING);
}

int evzk__election_elected(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type != EVZK__EV_USER)
        return evzk__lock_still_held(m, e);
    return lock_of(m)->user_asked ? evzk__machine_move(m, ANNOUNCING) : EVZK_OK;
}

int evzk__election_verified(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    return e->type == EVZK__EV_USER ? evzk__election_elected(m, e)
                                    : evzk__lock_verified(m, e, HELD);
}

/* REANNOUNCING deletes a znode, so the leader must be sure that its own exists.
 */
static int asked_again(struct evzk_lock *l)
{
    if (!l->user_asked)
        return EVZK_OK;
    return evzk__machine_move(
        &l->m, evzk__lock_watches_own(l) ? REANNOUNCING : CHECKING_LEADING);
}

int evzk__election_leads(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    if (e->type == EVZK__EV_USER)
        return asked_again(l);
    if (e->type == EVZK__EV_CHANGED || e->type == EVZK__EV_LINGERED)
        return wants_to_verify(l) ? evzk__machine_move(m, VERIFYING_LEADER)
                                  : EVZK_OK;
    return evzk__lock_still_held(m, e);
}

int evzk__election_verified_leader(struct evzk__machine *m,
                                   const struct evzk__event *e)
{
    return e->type == EVZK__EV_USER ? asked_again(lock_of(m))
                                    : evzk__lock_verified(m, e, LEADING);
}

int evzk__election_checked_elected(struct evzk__machine *m,
                                   const struct evzk__event *e)
{
    return evzk__lock_checked_for(m, e, ANNOUNCING);
}

int evzk__election_checked_rival(struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    return evzk__lock_checked_for(m, e, REPLACING);
}

int evzk__election_checked_leading(struct evzk__machine *m,
                                   const struct evzk__event *e)
{
    return evzk__lock_checked_for(m, e, REANNOUNCING);
}

/* `replaced`: the leader znode to delete, or NULL. */
static void announce(struct evzk_lock *l, const char *replaced)
{
    struct evzk__create_args args = evzk__lock_args(l);
    static char name[] = EVZK__LEADER; /* No number is added. */
    struct leader_znode *leader = &l->given->leader;

    leader->is = LEADER_UNKNOWN;
    leader->czxid = 0; /* The new znode's is not known. */
    l->given->swap = (struct evzk__swap){.guard = l->own,
                                         .old = replaced,
                                         .created = name,
                                         .version = EVZK__ANY_VERSION,
                                         .data = leader->text,
                                         .len = leader->len,
                                         .acl = args.acl,
                                         .acl_count = args.acl_count};
    evzk__swap(&l->m, &l->given->swap);
}

static void try_to(struct evzk__machine *m, int check, const char *replaced)
{
    if (m->stopping)
        evzk__machine_move(m, DELETING);
    else if (!m->place.own_verified)
        evzk__machine_move(m, check);
    else
        announce(lock_of(m), replaced);
}

void evzk__election_announce(struct evzk__machine *m)
{
    try_to(m,
           lock_of(m)->reported == REPORTED_LEADING ? CHECKING_LEADING
                                                    : CHECKING_ELECTED,
           NULL);
}

void evzk__election_replace(struct evzk__machine *m)
{
    try_to(m, CHECKING_RIVAL, EVZK__LEADER);
}

void evzk__election_reannounce(struct evzk__machine *m)
{
    try_to(m, CHECKING_LEADING, EVZK__LEADER);
}

/* If refused, the candidate stays as it was. */
static int come_back(struct evzk_lock *l, int rc)
{
    l->user_asked = false;
    if (rc == EVZK_OK)
        l->reported = REPORTED_LEADING;
    go_on(l);
    evzk__lock_tell(l, (evzk_lock_event)LOCK_ANNOUNCED, rc);
    return EVZK_OK;
}

static int note(struct evzk_lock *l, const struct evzk__reply *reply)
{
    struct leader_znode *leader = &l->given->leader;
    int rc = reply->rc;

    leader->czxid = rc == EVZK_OK ? reply->first.czxid : 0;
    leader->is = LEADER_ANSWERED;
    leader->seen_on = rc == EVZK_OK ? l->m.seen.connection_no : -1;

    if (l->m.stopping)
        return evzk__machine_move(&l->m, DELETING);
    if (rc == EVZK_ERR_NODEEXISTS) /* A leader's, old or new. */
        return evzk__machine_move(&l->m, l->reported == REPORTED_LEADING
                                             ? CHECKING_LEADING
                                             : CHECKING_RIVAL);
    if (rc == EVZK_ERR_NONODE && l->m.state != ANNOUNCING)
        return evzk__machine_move(&l->m, ANNOUNCING); /* `leader` is gone. */
    return rc == EVZK_ERR_NONODE ? evzk__lock_break(l) : come_back(l, rc);
}

int evzk__election_announced(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    return e->type == EVZK__EV_REPLY ? note(lock_of(m), e->reply)
                                     : evzk__lock_doubt(lock_of(m), e);
}
