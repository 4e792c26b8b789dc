/* Locks: one ephemeral sequential znode per contender, all in one queue.
 *
 *   <guid>-lock-<seq>    holds alone; waits for the one just before its own
 *   <guid>-write-<seq>   the same, and can become a read lock
 *   <guid>-read-<seq>    holds together with others that read; waits for the
 *                        nearest before it that does not
 *
 * So one that holds alone wakes, when it leaves, all who read behind it up to
 * the next that does not, and nobody else; and who reads behind a waiting
 * writer does not pass it.  A write lock becomes a read lock by having its
 * znode changed for one that reads, of the same number, in one transaction:
 * there is no moment without it.
 *
 *   CREATING <--> MAKING_PARENTS
 *    |  ^  \
 *    |  |   `--> RESOLVING --> ADOPTING      (the create's outcome is unknown)
 *    v  |                         |
 *   LISTING <---------------------'
 *    |  ^
 *    |  `--> WATCHING     (somebody is before us)
 *    v
 *   CONFIRMING --> HELD --> DELETING --> ENDED
 *                  ^  |
 *                  |  v
 *                SWAPPING     (a write lock becomes a read lock)
 *
 * The full diagram, made from the table below, is in doc/lock.svg.
 *
 * How it can fail.  A create of unknown outcome is looked for by its GUID,
 * after a write that went through the leader's queue behind it (a sync does
 * not, where the leader is our server), and a GUID is used for one attempt
 * only.  A waiter that wakes looks again, since the one before it may have left
 * from the middle of the queue. Nothing is granted while the lease is in doubt,
 * however first we are: a follower that is cut off shows a queue that is no
 * more.  A znode that another deleted ends the lock, or sends a waiter back to
 * the end of the queue.  A directory whose sequence numbers are used up gives
 * the last ones again and again: whoever gets one gives up.
 */
#include "recipes/lock_own.h"

#include <string.h>

#include "lib/mem.h"
#include "lib/stand.h"
#include "recipes/kinds.h"

const struct evzk__mark evzk__lock_marks[] = {
    [EVZK_LOCK_EXCLUSIVE] = {"-lock-", 0},
    [EVZK_LOCK_WRITE] = {"-write-", EVZK__MOVES},
    [EVZK_LOCK_READ] = {"-read-", EVZK__SHARES},
    [EVZK_LOCK_WRITE + LOCK_ROOM] = {"-write-wait-", EVZK__WAITS},
    [EVZK_LOCK_READ + LOCK_ROOM] = {"-read-wait-", EVZK__WAITS | EVZK__SHARES},
    {NULL, 0}};

enum {
    CREATING,
    MAKING_PARENTS,
    RESOLVING,
    ADOPTING,
    LISTING,
    WATCHING,
    CONFIRMING,
    HELD,
    ENTERING,
    SWAPPING,
    DELETING,
    ENDED,
    STATES
};

/* A container may go away between the making and our create; not for ever. */
enum { PARENTS_TRIES = 8 };

/* May free the lock: touch nothing after. */
static void tell(struct evzk_lock *l, evzk_lock_event ev, int rc)
{
    evzk_session *s = l->m.s;
    int64_t begun = evzk__machine_call_out();

    if (l->cb && !l->told)
        l->cb(l, ev, rc, l->arg);
    evzk__machine_called(s, begun);
}

static void tell_end(struct evzk_lock *l, int rc)
{
    evzk_lock_event ev = EVZK_LOCK_FAILED;

    if (l->granted)
        ev = l->released ? EVZK_LOCK_RELEASED : EVZK_LOCK_LOST;
    tell(l, ev, rc);
}

static struct evzk__create_args args_of(struct evzk_lock *l)
{
    const evzk_session *s = l->m.s;
    struct evzk__create_args a = {.name = l->own,
                                  .data = s->data,
                                  .len = (uint32_t)s->data_len,
                                  .acl = s->acl.v,
                                  .acl_count = s->acl.n};

    if (l->given && l->given->data) {
        a.data = l->given->data;
        a.len = l->given->len;
    }
    if (l->given && l->given->acl.v) {
        a.acl = l->given->acl.v;
        a.acl_count = l->given->acl.n;
    }
    return a;
}

evzk_lock_mode evzk__lock_mode_named(const struct evzk__contender *c)
{
    if (c->flags & EVZK__SHARES)
        return EVZK_LOCK_READ;
    return c->flags & (EVZK__MOVES | EVZK__WAITS) ? EVZK_LOCK_WRITE
                                                  : EVZK_LOCK_EXCLUSIVE;
}

int evzk__lock_name(const struct evzk_lock *l, char *out, unsigned mark)
{
    int rc = evzk__guid(out);

    out += EVZK__GUID_LEN;
    if (l->given && l->given->urgent) {
        evzk__priority_print(out, l->given->priority.priority,
                             l->given->priority.ageing);
        out += strlen(out);
    }
    strcpy(out, evzk__lock_marks[mark].text);
    return rc;
}

static unsigned first_mark(const struct evzk_lock *l)
{
    return l->given && l->given->urgent ? l->mode + (unsigned)LOCK_ROOM
                                        : l->mode;
}

/* One GUID, one attempt: a name that was once sent is never sent again. */
static void create(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    struct evzk__create_args args;
    bool requeued = l->known;

    evzk__forget_own(m);
    evzk__unwatch_pred(m);
    l->known = false;
    l->arrived = l->entering = l->reread = l->blind = false;
    evzk__lock_calm(l);
    if (evzk__lock_name(l, l->own, first_mark(l)) != EVZK_OK) {
        evzk__machine_finish(m, EVZK_ERR_INTERNAL);
        return;
    }
    args = args_of(l);
    evzk__create_list(m, &args);
    if (requeued)
        tell(l, EVZK_LOCK_REQUEUED,
             l->broken ? EVZK_ERR_NODEGONE : EVZK_ERR_EXPIRED);
}

/* Our znode is gone, and we held nothing: to the end of the queue. */
static int lose_place(struct evzk_lock *l)
{
    l->broken = true;
    evzk__own_gone(&l->m);
    return l->m.no_requeue ? EVZK_ERR_NODEGONE
                           : evzk__machine_move(&l->m, CREATING);
}

/* A server of 3.8.0 that has given the last number gives it again, or one from
 * the far end, to whoever comes next.  Others go on there, and count it. */
static bool used_up(int32_t seq, const struct evzk__stat *dir)
{
    /* cversion counts each create twice, and less what is still there. */
    uint32_t twice = (uint32_t)dir->cversion + (uint32_t)dir->children;

    return (seq == INT32_MAX || seq < 0) && twice == 2u * INT32_MAX;
}

/* Nobody is before it that it would have to wait for; or nobody at all. */
static int be_first(struct evzk_lock *l, bool alone)
{
    evzk__lead(&l->m);
    l->m.leads = alone;
    return evzk__machine_move(
        &l->m, evzk__session_certain(l->m.s) ? HELD : CONFIRMING);
}

/* `ours` is the same, when it is of our own session: it tells us itself when it
 * leaves, and a watch is set on it all the same. */
static int wait_for(struct evzk_lock *l, const char *pred,
                    struct evzk__machine *ours)
{
    char *copy;

    if (l->try_once)
        return evzk__machine_give_up(&l->m, EVZK_ERR_BUSY, DELETING);
    copy = evzk__strdup(pred);
    if (!copy) {
        evzk__requests_pause(l->m.s);
        return evzk__machine_move(&l->m, LISTING);
    }
    evzk__free(l->pred);
    l->pred = copy;
    evzk__queue_follow(&l->m, ours);
    return evzk__machine_move(&l->m, WATCHING);
}

/* It waits for one before it in the room, or for the holders; or for nobody. */
static int look_in_room(struct evzk_lock *l, const char *pred)
{
    l->second = false;
    return pred ? wait_for(l, pred, NULL) : evzk__machine_move(&l->m, ENTERING);
}

/* Who is before us? */
static int look_at(struct evzk_lock *l, const struct evzk__result *list)
{
    struct evzk__stand stand;
    struct evzk__machine *ours;

    evzk__stand(&stand, &list->names, evzk__lock_marks, l->own);
    if (!l->m.placed || used_up(l->m.seq, &list->stat))
        return evzk__machine_give_up(&l->m, EVZK_ERR_SEQUENCE, DELETING);
    if (!stand.found)
        return lose_place(l);
    if (stand.pred && !l->try_once &&
        evzk__lock_look_round(l, list->names.roll) != EVZK_OK) {
        evzk__requests_pause(l->m.s);
        return evzk__machine_move(&l->m, LISTING);
    }
    if (evzk__lock_waits(l))
        return look_in_room(l, stand.pred);
    if (!stand.pred)
        return be_first(l, stand.before == 0);
    l->second = stand.next;
    ours = l->mode == EVZK_LOCK_READ ? NULL : evzk__queue_before(&l->m);
    /* One that reads is not told that it leads: others may read before it. One
     * that leads is the only one before us, or somebody was put there by
     * hand: then who comes next is for a listing to say. */
    if (!ours || strcmp(ours->own_watch.name, stand.pred) != 0 ||
        (ours->leads && stand.before > 1))
        ours = NULL;
    if (ours && ours->passed)
        return be_first(l, true);
    return wait_for(l, stand.pred, ours);
}

/* With a priority all look at it in order, also one that looks alone. */
static int look(struct evzk_lock *l, const struct evzk__result *list)
{
    struct evzk__result ordered = *list;
    struct evzk__roll roll = {0};
    int rc;

    if (list->names.roll || !l->given || !l->given->urgent)
        return look_at(l, list);
    ordered.names.roll = &roll;
    rc = look_at(l, &ordered);
    evzk__roll_free(&roll);
    return rc;
}

static bool bars(const struct evzk_lock *l, const char *name)
{
    struct evzk__contender a, b;

    return evzk__contender_parse(name, evzk__lock_marks, &a) &&
           evzk__contender_parse(l->own, evzk__lock_marks, &b) &&
           !(a.flags & EVZK__WAITS) && evzk__contender_bars(&a, &b);
}

/* Right behind one of our own nobody else can be, if that is still there when
 * we look at it.  The last numbers are for a listing, and so is a first one. */
static int look_around(struct evzk_lock *l)
{
    struct evzk__machine *ours = evzk__queue_before(&l->m);

    if (!ours || ours->passed || evzk__lock_waits(l) ||
        !bars(l, ours->own_watch.name) || ours->seq < 0 ||
        ours->seq >= INT32_MAX - 1 || l->m.seq != ours->seq + 1)
        return evzk__machine_move(&l->m, LISTING);
    l->second = false; /* For all we know. */
    return wait_for(l, ours->own_watch.name,
                    l->mode == EVZK_LOCK_READ ? NULL : ours);
}

static void take_place(struct evzk_lock *l, const struct evzk__first *stat)
{
    struct evzk__contender own;

    l->known = true;
    l->broken = false;
    l->seen = 0;
    l->token = (uint64_t)stat->czxid;
    if (evzk__contender_parse(l->own, evzk__lock_marks, &own))
        evzk__queue_enter(&l->m, l->own, own.seq);
}

static int created(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    int rc = e->reply->first_rc;

    if (rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, RESOLVING);
    if (rc == EVZK_ERR_NONODE && !m->stopping)
        return evzk__machine_move(m, MAKING_PARENTS);
    if (rc == EVZK_ERR_NODEEXISTS)
        return EVZK_ERR_SEQUENCE; /* Nobody else has our GUID. */
    if (rc != EVZK_OK)
        return m->stopping ? evzk__machine_finish(m, m->rc) : rc;
    l->parents_made = 0;
    take_place(l, &e->reply->first);
    if (m->stopping)
        return evzk__machine_move(m, DELETING);
    if (!e->reply->listed)
        return look_around(l);
    if (e->reply->rc != EVZK_OK)
        return evzk__machine_move(m, LISTING);
    return look(l, e->reply->res);
}

static void make_parents(struct evzk__machine *m)
{
    struct evzk__create_args args = args_of(lock_of(m));

    evzk__parents(m, &args);
}

static int parents_made(struct evzk__machine *m, const struct evzk__event *e)
{
    if (m->stopping)
        return evzk__machine_finish(m, m->rc);
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    if (lock_of(m)->parents_made++ == PARENTS_TRIES)
        return EVZK_ERR_NONODE;
    return evzk__machine_move(m, CREATING);
}

static void enter_queue(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (evzk__lock_name(l, l->given->name, l->mode) != EVZK_OK)
        evzk__machine_give_up(m, EVZK_ERR_INTERNAL, DELETING);
    else
        evzk__lock_swap(l, true);
}

/* The old name is kept where the new one was: it may be ours all the same. */
static void rename_own(struct evzk_lock *l)
{
    char old[EVZK__NAME_MAX];

    evzk__forget_own(&l->m);
    strcpy(old, l->own);
    strcpy(l->own, l->given->name);
    strcpy(l->given->name, old);
}

static void come_in(struct evzk_lock *l, const struct evzk__first *stat)
{
    struct evzk__contender c;

    l->token = (uint64_t)stat->czxid;
    l->seen = 0;
    if (evzk__contender_parse(l->given->name, evzk__lock_marks, &c))
        evzk__rename_own(&l->m, l->own, l->given->name, c.seq);
}

static int entered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_CONNLOSS) {
        rename_own(l);
        l->entering = true;
        return evzk__machine_move(m, RESOLVING);
    }
    if (rc == EVZK_OK)
        come_in(l, &e->reply->first);
    if (m->stopping)
        return evzk__machine_move(m, DELETING);
    if (rc == EVZK_ERR_NONODE)
        return lose_place(l);
    if (rc == EVZK_OK)
        return evzk__machine_move(m, LISTING);
    l->reread = rc == EVZK_ERR_BADVERSION; /* First what was written to us. */
    if (l->reread)
        return evzk__machine_move(m, WATCHING);
    if (rc == EVZK_ERR_NODEEXISTS)
        rc = EVZK_ERR_SEQUENCE; /* Nobody else has our GUID. */
    return evzk__machine_give_up(m, rc, DELETING);
}

/* It was not done: the znode in the room is still ours, or was broken. */
static int stay_in_room(struct evzk_lock *l)
{
    struct evzk__first stat = {.czxid = (int64_t)l->token};
    int32_t seen = l->seen;

    rename_own(l);
    l->entering = false;
    take_place(l, &stat);
    l->seen = seen;
    return evzk__machine_move(&l->m, l->m.stopping ? DELETING : LISTING);
}

/* What stood in the room may still stand there. */
static int unresolved(struct evzk_lock *l, int rc)
{
    if (!l->entering)
        return rc;
    rename_own(l);
    l->entering = false;
    return evzk__machine_give_up(&l->m, rc, DELETING);
}

/* A delete that must fail: its answer came after all that we ever wrote. */
static void resolve(struct evzk__machine *m)
{
    evzk__settle_list(m, lock_of(m)->own); /* Without a number: it is none. */
}

/* The listing behind it shows our znode, or none will ever come. */
static int resolved(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    const char *name = NULL;

    if (e->reply->first_rc == EVZK_ERR_SERVER) /* It proves nothing. */
        return unresolved(l, EVZK_ERR_SERVER);
    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return unresolved(l, e->reply->rc);
    if (e->reply->rc == EVZK_OK)
        name = evzk__find_prefix(&e->reply->res->names, l->own);
    if (name) {
        strcpy(l->own, name);
        l->entering = false;
        return evzk__machine_move(m, m->stopping ? DELETING : ADOPTING);
    }
    if (l->entering)
        return stay_in_room(l);
    if (m->stopping)
        return evzk__machine_finish(m, m->rc);
    return evzk__machine_move(m, CREATING);
}

static void read_own(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    evzk__watch(m, l->own, l->watch_own, NULL);
}

static void adopt(struct evzk__machine *m)
{
    evzk__look(m, lock_of(m)->own); /* Its ACL may keep even us from more. */
}

static int adopted(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);
    const struct evzk__first *stat = &e->reply->first;

    if (e->reply->rc == EVZK_ERR_NONODE && l->known)
        return lose_place(l); /* In the room it was, and then in the queue. */
    if (e->reply->rc == EVZK_ERR_NONODE ||
        (e->reply->rc == EVZK_OK && !stat->ours))
        return evzk__machine_move(m, CREATING); /* Not ours after all. */
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    take_place(l, stat);
    return evzk__machine_move(m, LISTING);
}

static void list(struct evzk__machine *m)
{
    evzk__unwatch_pred(m);
    evzk__list(m);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_ERR_NONODE)
        return lose_place(lock_of(m)); /* The directory and all in it. */
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    return look(lock_of(m), e->reply->res);
}

/* Somebody has written to our znode: each time once, and nothing but this word.
 * False: the application wants no more of it. */
static bool hear(struct evzk_lock *l, const struct evzk__first *own)
{
    bool anew = own->version != l->seen;

    l->seen = own->version;
    l->passed = anew && !own->told;
    if (anew && own->told)
        tell(l, EVZK_LOCK_REVOKE_REQUESTED, EVZK_OK);
    return !l->m.stopping;
}

/* Only what stays is worth a watch of its own: most do not, and a deletion is
 * noticed by then at the latest.  In the room it is how others tell us. */
static bool wants_own_watch(const struct evzk_lock *l)
{
    return l->watch_own && (l->m.stayed || l->eager) && !l->m.own_watch.armed;
}

/* Not by exists: that would leave a watch where no znode ever comes. */
static void watch(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    bool own = wants_own_watch(l) || l->reread;
    const char *pred = m->pred_watch.armed || l->reread ? NULL : l->pred;

    if (own || pred)
        evzk__watch(m, own ? l->own : NULL, own, pred);
}

/* In the room: what others wrote to us has been read. */
static bool looks_again(struct evzk_lock *l)
{
    bool again = l->passed || l->reread;

    l->passed = l->reread = false;
    return again && evzk__lock_waits(l);
}

static int read_both(struct evzk__machine *m, const struct evzk__reply *reply)
{
    bool own = m->req.name != NULL;

    if (own && reply->first_rc == EVZK_ERR_NONODE)
        return lose_place(lock_of(m));
    if (own && reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NOAUTH)
        return reply->first_rc;
    if (own && reply->first_rc == EVZK_OK && !hear(lock_of(m), &reply->first))
        return EVZK_OK;
    if (own)
        lock_of(m)->blind = reply->first_rc == EVZK_ERR_NOAUTH;
    if (own && looks_again(lock_of(m)))
        return evzk__machine_move(m, LISTING);
    if (!m->req.pred)
        return EVZK_OK;
    if (reply->rc == EVZK_ERR_NONODE) {
        m->leads = false;   /* Was it there at all, when we came? */
        evzk__pred_gone(m); /* If it is one of ours, it is to know. */
        return evzk__machine_move(m, LISTING);
    }
    return reply->rc;
}

/* It may have left from the middle of the queue, but not if we know that it was
 * first: nobody comes in before us.  But are we still there? */
static int moved_up(struct evzk_lock *l)
{
    if (!l->m.leads && !l->second)
        return evzk__machine_move(&l->m, LISTING);
    evzk__lead(&l->m);
    return evzk__machine_move(&l->m, evzk__session_certain(l->m.s) &&
                                             evzk__queue_guarded(&l->m)
                                         ? HELD
                                         : CONFIRMING);
}

static int watched(struct evzk__machine *m, const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        return read_both(m, e->reply);
    case EVZK__EV_CHANGED: /* A watch fires once: set it again. */
    case EVZK__EV_STAYED:
        return evzk__machine_again(m);
    case EVZK__EV_DELETED:
        return e->which == EVZK__OWN ? lose_place(lock_of(m))
                                     : moved_up(lock_of(m));
    case EVZK__EV_ASKED: /* What it asked of others has ended. */
        return evzk__machine_move(m, LISTING);
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}

/* First, but not sure that the session is alive, or our znode there: the core
 * enters this state again as soon as the leader has confirmed it. */
static int confirmed(struct evzk__machine *m, const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        if (e->reply->rc == EVZK_ERR_NONODE)
            return lose_place(lock_of(m));
        if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NOAUTH)
            return e->reply->rc;
        if (e->reply->rc == EVZK_OK && !hear(lock_of(m), &e->reply->first))
            return EVZK_OK;
        return evzk__session_certain(m->s) ? evzk__machine_move(m, HELD)
                                           : EVZK_OK;
    case EVZK__EV_DELETED:
        return lose_place(lock_of(m));
    case EVZK__EV_CHANGED:
        return evzk__machine_again(m);
    case EVZK__EV_STAYED:
    case EVZK__EV_ASKED:
    case EVZK__EV_SUSPENDED:
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK_OK;
}

/* Entered again after every doubt, to see our own znode once more. */
static void hold(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    if (l->suspended || l->unseen || l->reread || wants_own_watch(l))
        read_own(m);
    if (l->granted)
        return;
    l->granted = true;
    evzk__lock_calm(l);
    evzk__machine_no_deadline(m);
    tell(l, EVZK_LOCK_GRANTED, EVZK_OK);
}

/* Reports the end now; what is left to do on the server goes on. */
static void end_early(struct evzk_lock *l, int rc)
{
    tell_end(l, rc);
    l->told = true;
}

static int lose(struct evzk_lock *l, int rc)
{
    evzk__machine_stop(&l->m, rc);
    end_early(l, rc);
    return EVZK_OK;
}

static int broken(struct evzk_lock *l)
{
    evzk__own_gone(&l->m);
    return evzk__machine_finish(&l->m, EVZK_ERR_NODEGONE);
}

/* Of one that was changed for another, and the answer lost, all that is known
 * is its name, which nobody else has. */
static bool is_own(struct evzk_lock *l, const struct evzk__first *stat)
{
    struct given *given = l->given;

    if (!l->swapped)
        return (uint64_t)stat->czxid == l->token;
    if (given->czxid == 0 && stat->ours)
        given->czxid = stat->czxid;
    return stat->czxid == given->czxid;
}

/* The old one is kept where the new one was. */
static void trade_names(struct evzk_lock *l)
{
    char old[OWN_MAX + EVZK__PRIORITY_MAX];

    strcpy(old, l->own);
    evzk__rename_own(&l->m, l->own, l->given->name, l->m.seq);
    strcpy(l->given->name, old);
}

/* It was not done: the old znode is still ours, or was broken. */
static void take_back(struct evzk_lock *l)
{
    trade_names(l);
    l->mode = EVZK_LOCK_WRITE;
    l->swapped = l->unsure = l->unseen = l->asked = l->sent = false;
}

static int stay_alone(struct evzk_lock *l)
{
    take_back(l);
    l->reread = true; /* Its znode is to be seen, before all. */
    tell(l, EVZK_LOCK_DOWNGRADED, l->given->refused);
    return l->m.stopping ? EVZK_OK : evzk__machine_again(&l->m);
}

static int seen_again(struct evzk_lock *l, const struct evzk__reply *reply)
{
    const struct evzk__first *stat = &reply->first;

    if (reply->rc == EVZK_ERR_NONODE && l->unsure)
        return stay_alone(l);
    if (reply->rc == EVZK_ERR_NONODE ||
        (reply->rc == EVZK_OK && !is_own(l, stat)))
        return broken(l);
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NOAUTH)
        return lose(l, reply->rc);
    l->unsure = false;
    if (l->unseen) {
        l->unseen = false;
        tell(l, EVZK_LOCK_DOWNGRADED, EVZK_OK);
    }
    if (l->suspended && !l->m.stopping && evzk__session_certain(l->m.s)) {
        l->suspended = false;
        tell(l, EVZK_LOCK_RESUMED, EVZK_OK);
    }
    if (reply->rc == EVZK_OK && !l->m.stopping)
        hear(l, stat);
    l->blind = reply->rc == EVZK_ERR_NOAUTH; /* Nothing is to be heard. */
    if (l->reread && l->asked)
        evzk__machine_ask(&l->m);
    l->reread = false;
    return EVZK_OK;
}

void evzk__lock_swap(struct evzk_lock *l, bool numbered)
{
    struct evzk__create_args args = args_of(l);
    struct evzk__swap *swap = &l->given->swap;

    swap->old = l->own;
    swap->created = l->given->name;
    swap->numbered = numbered;
    swap->version = l->blind ? -1 : l->seen;
    swap->data = args.data;
    swap->len = args.len;
    swap->acl = args.acl;
    swap->acl_count = args.acl_count;
    evzk__swap(&l->m, swap);
}

static void suspend(struct evzk_lock *l)
{
    if (!l->suspended) {
        l->suspended = true;
        tell(l, EVZK_LOCK_SUSPENDED, EVZK_OK);
    }
}

static int held(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    switch (e->type) {
    case EVZK__EV_REPLY:
        return seen_again(l, e->reply);
    case EVZK__EV_DELETED:
        return broken(l);
    case EVZK__EV_CHANGED:
    case EVZK__EV_STAYED:
        return evzk__machine_again(m);
    case EVZK__EV_ASKED: /* Or what it asked of others has ended. */
        return l->asked && !l->swapped ? evzk__machine_move(m, SWAPPING)
                                       : EVZK_OK;
    case EVZK__EV_SUSPENDED:
        suspend(l);
        return EVZK_OK;
    case EVZK__EV_LEASE_END:
        return lose(l, EVZK_ERR_LEASE);
    }
    return EVZK_OK;
}

/* Again and again the same name, if need be: it is made once. */
static void swap(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    l->unsure = l->sent; /* What was sent before may have been done. */
    l->sent = true;
    evzk__lock_swap(l, false);
}

/* Others may still watch the old one, also some of ours. */
static void take_swap(struct evzk_lock *l, int64_t czxid)
{
    trade_names(l);
    l->mode = EVZK_LOCK_READ;
    l->seen = 0;
    l->given->czxid = czxid;
    l->swapped = true;
}

/* No such znode: it was broken, or this was done before, and the answer lost.
 * What is there now tells; so it does when this is refused, and an answer was
 * lost before.  Another version: somebody has written to it, and that is to be
 * heard first. */
static int change(struct evzk_lock *l, const struct evzk__reply *reply)
{
    bool done = reply->rc == EVZK_OK, gone = reply->rc == EVZK_ERR_NONODE;

    l->reread = reply->rc == EVZK_ERR_BADVERSION;
    l->unsure = l->unsure && !done && !gone && !l->reread;
    if (done || gone || l->unsure)
        take_swap(l, done ? reply->first.czxid : 0);
    l->given->refused = reply->rc;
    gone = gone || l->unsure;
    if (l->m.stopping)
        return evzk__machine_move(&l->m, DELETING);
    /* Not: refused, and it writes as before. */
    l->asked = done || gone || l->reread;
    l->sent = l->sent && l->asked;
    l->unseen = gone;
    evzk__machine_move(&l->m, HELD);
    if (!gone && !l->reread)
        tell(l, EVZK_LOCK_DOWNGRADED, reply->rc);
    return EVZK_OK;
}

static int swapped(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock *l = lock_of(m);

    if (m->stopping && e->type != EVZK__EV_REPLY)
        return EVZK_OK; /* What it holds is no news any more. */
    switch (e->type) {
    case EVZK__EV_REPLY:
        return change(l, e->reply);
    case EVZK__EV_SUSPENDED:
        suspend(l);
        return EVZK_OK;
    case EVZK__EV_LEASE_END:
        return lose(l, EVZK_ERR_LEASE);
    case EVZK__EV_DELETED:
    case EVZK__EV_CHANGED:
    case EVZK__EV_STAYED:
    case EVZK__EV_ASKED:
        break;
    }
    return EVZK_OK;
}

static void drop(struct evzk__machine *m)
{
    evzk__lock_calm(lock_of(m));
    evzk__delete(m, lock_of(m)->own);
}

static int dropped(struct evzk__machine *m, const struct evzk__event *e)
{
    bool gone = e->reply->rc == EVZK_OK || e->reply->rc == EVZK_ERR_NONODE;

    if (e->reply->rc == EVZK_ERR_NONODE && lock_of(m)->unsure) {
        take_back(lock_of(m)); /* Then it is the old one that is to go. */
        return evzk__machine_again(m);
    }
    if (e->reply->rc == EVZK_ERR_NONODE)
        evzk__own_gone(m);
    return evzk__machine_finish(m, gone ? m->rc : e->reply->rc);
}

static void end(struct evzk__machine *m)
{
    evzk__lock_calm(lock_of(m));
    tell_end(lock_of(m), m->rc);
}

static void late(struct evzk__machine *m)
{
    if (m->stopping && m->rc == EVZK_ERR_CANCELED)
        return; /* That is not over before the znode is proved gone. */
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    end_early(lock_of(m), m->rc);
}

void evzk__lock_destroy(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

    evzk__lock_calm(l);
    if (l->given) {
        evzk__acl_free(&l->given->acl);
        evzk__free(l->given->data);
    }
    evzk__free(l->given);
    evzk__free(l->pred);
    evzk__free(l);
}

/* clang-format off */
#define S(state, enter, react, on_stop, on_expiry, flags, next) \
    [state] = { #state, enter, react, on_stop, on_expiry, flags, next }
#define TO EVZK__TO
#define STAY EVZK__STAY
#define RETRY EVZK__RETRY
#define HOLDS EVZK__HOLDS
#define FRESH EVZK__FRESH
#define WATCHES EVZK__WATCHES
#define STAYS EVZK__STAYS
#define HEEDS EVZK__HEEDS
static const struct evzk__row rows[STATES] = {
/* state           enter            react         on stop   on expiry flags                may move to */
S(CREATING,        create,          created,      STAY,     CREATING, FRESH,               TO(CREATING)|TO(MAKING_PARENTS)|TO(RESOLVING)|TO(LISTING)|TO(WATCHING)|TO(ENTERING)|TO(CONFIRMING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(MAKING_PARENTS,  make_parents,    parents_made, STAY,     CREATING, FRESH,               TO(CREATING)|TO(ENDED)),
S(RESOLVING,       resolve,         resolved,     STAY,     CREATING, RETRY,               TO(CREATING)|TO(ADOPTING)|TO(LISTING)|TO(DELETING)|TO(ENDED)),
S(ADOPTING,        adopt,           adopted,      DELETING, CREATING, RETRY,               TO(CREATING)|TO(LISTING)|TO(DELETING)|TO(ENDED)),
S(LISTING,         list,            listed,       DELETING, CREATING, RETRY,               TO(CREATING)|TO(LISTING)|TO(WATCHING)|TO(ENTERING)|TO(CONFIRMING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(WATCHING,        watch,            watched,      DELETING, CREATING, RETRY|WATCHES|STAYS|HEEDS,  TO(CREATING)|TO(LISTING)|TO(CONFIRMING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(CONFIRMING,      read_own,        confirmed,    DELETING, CREATING, RETRY|HOLDS|WATCHES, TO(CREATING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(HELD,            hold,            held,         DELETING, ENDED,    RETRY|HOLDS|WATCHES|STAYS|HEEDS, TO(SWAPPING)|TO(DELETING)|TO(ENDED)),
S(ENTERING,        enter_queue,      entered,      STAY,     CREATING, 0,                   TO(CREATING)|TO(RESOLVING)|TO(LISTING)|TO(WATCHING)|TO(DELETING)|TO(ENDED)),
S(SWAPPING,        swap,            swapped,      STAY,     ENDED,    RETRY|HOLDS,         TO(HELD)|TO(DELETING)|TO(ENDED)),
S(DELETING,        drop,            dropped,      STAY,     ENDED,    RETRY,               TO(ENDED)),
S(ENDED,           end,             NULL,         STAY,     STAY,     EVZK__FINAL,         0),
};
/* clang-format on */

const struct evzk__kind evzk__lock_kind = {
    "lock", evzk__lock_marks, rows, STATES, late, evzk__lock_destroy, NULL};
