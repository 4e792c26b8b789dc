/* How a lock gets its place: from the create to the first look at the queue.
 *
 * How it can fail.  Whether a create was done may be unknown: then its GUID is
 * looked for, and a GUID is used for one attempt only.
 */
#include "recipes/lock/states.h"

#include <string.h>

/* So often at once, if the directory has gone before our create: others come
 * and go with it.  Then with pauses, so that they and we fall out of step. */
enum { AT_ONCE = 8 };

static unsigned first_mark(const struct evzk_lock *l)
{
    return evzk__lock_urgent(l) ? l->mode + (unsigned)LOCK_PRIO : l->mode;
}

/* A GUID is used for one attempt: a name that was sent is never sent again. */
void evzk__lock_create(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    struct evzk__create_args args;
    enum evzk__lock_position had = (enum evzk__lock_position)l->position;

    evzk__forget_own(m);
    evzk__unwatch_pred(m);
    l->position = POSITION_NONE;
    l->own_hidden = false;
    l->may_stand = false;
    if (l->given)
        l->given->told_passed = false;
    l->token = 0;
    evzk__lock_stop_revoking(l);
    if (evzk__lock_name(l, l->own, first_mark(l)) != EVZK_OK) {
        evzk__machine_finish(m, EVZK_ERR_INTERNAL);
        return;
    }
    args = evzk__lock_args(l);
    evzk__create_list(m, &args);
    if (had != POSITION_NONE)
        evzk__lock_tell(l, EVZK_LOCK_REQUEUED,
                        had == POSITION_BROKEN ? EVZK_ERR_NODEGONE
                                               : EVZK_ERR_EXPIRED);
}

static int first_look(struct evzk_lock *l, const struct evzk__reply *reply)
{
    if (!reply->listed)
        return evzk__lock_look_around(l);
    return reply->rc == EVZK_OK ? evzk__lock_look(l, reply->res)
                                : evzk__machine_move(&l->m, LISTING);
}

static int first_prio_look(struct evzk_lock *l, const struct evzk__reply *reply)
{
    return reply->listed && reply->rc == EVZK_OK
               ? evzk__lock_prio_look(l, reply->res)
               : evzk__machine_move(&l->m, PRIO_LISTING);
}

int evzk__lock_created(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    int rc = e->reply->first_rc;

    if (rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, RESOLVING);
    if (rc == EVZK_ERR_NONODE && !m->stopping)
        return evzk__machine_move(m, MAKING_PARENTS);
    if (rc == EVZK_ERR_NODEEXISTS)
        return EVZK_ERR_SEQUENCE; /* No other contender has our GUID. */
    if (rc != EVZK_OK)
        return m->stopping ? evzk__machine_finish(m, m->rc) : rc;
    l->m.tries = 0;
    evzk__lock_take_place(l, (uint64_t)e->reply->first.czxid);
    m->place.own_verified = true;
    if (m->stopping)
        return evzk__machine_move(m, DELETING);
    return evzk__lock_urgent(l) ? first_prio_look(l, e->reply)
                                : first_look(l, e->reply);
}

void evzk__lock_make_parents(struct evzk__machine *m)
{
    struct evzk__create_args args = evzk__lock_args(lock_of(m));

    if (args.dir == EVZK__DIR_OURS)
        evzk__parents(m, &args); /* The create makes the directory. */
    else
        evzk__own_dir_for(m, &args);
}

int evzk__lock_parents_made(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    if (m->stopping)
        return evzk__machine_finish(m, m->rc);
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    if (m->tries == AT_ONCE)
        evzk__machine_pause(m);
    else
        m->tries++;
    return evzk__machine_move(m, CREATING);
}

/* A delete that must fail: when it is answered, all that this session ever
 * wrote is done.  The name has no number yet, or is that of a znode that was
 * not ours. */
void evzk__lock_resolve(struct evzk__machine *m)
{
    lock_of(m)->may_stand = true;
    evzk__settle_list(m, lock_of(m)->own);
}

/* Finds the znode of this name, with a number above the one that an earlier
 * look has added; takes that off. */
static const char *find_numbered(const struct evzk_lock *l, char *own,
                                 const struct evzk__names *names)
{
    struct evzk__contender c;
    int64_t tried = INT64_MIN;

    if (evzk__contender_parse(own, evzk__lock_marks_of(l), &c)) {
        own[evzk__lock_prefix(l, own)] = '\0';
        tried = c.seq;
    }
    return evzk__find_prefix(names, own, &tried);
}

enum evzk__found evzk__lock_find(struct evzk_lock *l, char *own,
                                 const struct evzk__reply *reply)
{
    const char *name = NULL;

    if (reply->rc == EVZK_ERR_NOAUTH && evzk__lock_is(l, LOCK_PATIENT))
        return EVZK__FIND_LATER; /* May exist. */
    if (reply->rc == EVZK_OK)
        name = find_numbered(l, own, &reply->res->names);
    if (name) {
        strcpy(own, name);
        return EVZK__FOUND;
    }
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return EVZK__FIND_FAILED;
    return reply->first_rc == EVZK_ERR_SERVER ? EVZK__FIND_REFUSED
                                              : EVZK__FOUND_NONE;
}

/* The listing behind that delete shows our znode, or it never comes.  If the
 * delete was refused, a znode that is seen is there all the same. */
int evzk__lock_resolved(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    switch (evzk__lock_find(l, l->own, e->reply)) {
    case EVZK__FOUND:
        return evzk__machine_move(m, ADOPTING);
    case EVZK__FOUND_NONE:
        l->may_stand = false;
        return m->stopping ? evzk__machine_finish(m, m->rc)
                           : evzk__machine_move(m, CREATING);
    case EVZK__FIND_LATER:
        return evzk__machine_again_later(m);
    case EVZK__FIND_REFUSED:
        return evzk__machine_refused(m, e->reply);
    case EVZK__FIND_FAILED:
        break;
    }
    return e->reply->rc;
}

void evzk__lock_adopt(struct evzk__machine *m)
{
    evzk__exists(m, lock_of(m)->own); /* Its ACL may forbid a read. */
}

int evzk__lock_adopted(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    l->token = 0;
    switch (evzk__lock_verify(l, e->reply->rc, &e->reply->first)) {
    case EVZK__OWN_THERE:
        evzk__lock_take_place(l, l->token);
        if (m->stopping)
            return evzk__machine_move(m, DELETING);
        return evzk__machine_move(m, evzk__lock_urgent(l) ? PRIO_LISTING
                                                          : LISTING);
    case EVZK__OWN_GONE:
        /* The znode is a copy that another client made, perhaps with the whole
         * directory: another znode with our GUID may be ours.  A listing shows
         * names only. */
        evzk__own_gone(m);
        return evzk__machine_move(m, RESOLVING);
    case EVZK__OWN_HIDDEN:
    case EVZK__OWN_UNKNOWN:
        break;
    }
    return evzk__machine_give_up(m, e->reply->rc, DELETING);
}
