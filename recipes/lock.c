/* Exclusive lock: one ephemeral sequential znode per contender.  The lowest
 * holds the lock; each of the others watches the one just before its own.
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
#include "evzk/lock.h"

#include <string.h>

#include "lib/mem.h"
#include "lib/name.h"
#include "recipes/kinds.h"

static const char mark[] = "-lock-";

enum { OWN_MAX = EVZK__GUID_LEN + sizeof mark + 11 };

/* What the caller gave for this lock alone. */
struct given {
    struct evzk__acl acl;
    void *data; /* Owned; NULL: the session's. */
    uint32_t len;
};

struct evzk_lock {
    struct evzk__machine m;
    char own[OWN_MAX]; /* Our znode; while not known, its prefix. */
    uint8_t parents_made;
    bool known : 1; /* We have a place in the queue. */
    bool granted : 1, suspended : 1, released : 1;
    bool told : 1;   /* The final event was reported, ahead of the end. */
    bool broken : 1; /* Our place was lost to somebody's delete. */
    bool second : 1; /* Nobody but `pred` was before us. */
    bool try_once : 1, watch_own : 1;
    char *pred; /* Owned: the znode we watch, when it is not ours. */
    uint64_t token;
    struct given *given; /* Owned; NULL: the session's serve. */
    evzk_lock_cb *cb;    /* NULL once the caller freed us. */
    void *arg;
};

enum {
    CREATING,
    MAKING_PARENTS,
    RESOLVING,
    ADOPTING,
    LISTING,
    WATCHING,
    CONFIRMING,
    HELD,
    DELETING,
    ENDED,
    STATES
};

/* A container may go away between the making and our create; not for ever. */
enum { PARENTS_TRIES = 8 };

static struct evzk_lock *lock_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_lock, m);
}

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

/* One GUID, one attempt: a name that was once sent is never sent again. */
static void create(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    struct evzk__create_args args;
    bool requeued = l->known;

    evzk__forget_own(m);
    evzk__unwatch_pred(m);
    l->known = false;
    if (evzk__guid(l->own) != EVZK_OK) {
        evzk__machine_finish(m, EVZK_ERR_INTERNAL);
        return;
    }
    strcpy(l->own + EVZK__GUID_LEN, mark);
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

static int be_first(struct evzk_lock *l)
{
    evzk__lead(&l->m);
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

/* Who is before us? */
static int look(struct evzk_lock *l, const struct evzk__result *list)
{
    bool found;
    size_t before;
    const char *pred =
        evzk__predecessor(&list->names, mark, l->own, &found, &before);
    struct evzk__machine *ours;

    if (!l->m.placed || used_up(l->m.seq, &list->stat))
        return evzk__machine_give_up(&l->m, EVZK_ERR_SEQUENCE, DELETING);
    if (!found)
        return lose_place(l);
    if (!pred)
        return be_first(l);
    l->second = before == 1;
    ours = evzk__queue_before(&l->m);
    /* One that leads is the only one before us, or somebody was put there by
     * hand: then who comes next is for a listing to say. */
    if (!ours || strcmp(ours->own_watch.name, pred) != 0 ||
        (ours->leads && before > 1))
        ours = NULL;
    if (ours && ours->passed)
        return be_first(l);
    return wait_for(l, pred, ours);
}

/* Right behind one of our own nobody else can be, if that is still there when
 * we look at it.  The last numbers are for a listing, and so is a first one. */
static int look_around(struct evzk_lock *l)
{
    struct evzk__machine *ours = evzk__queue_before(&l->m);

    if (!ours || ours->passed || ours->seq < 0 || ours->seq >= INT32_MAX - 1 ||
        l->m.seq != ours->seq + 1)
        return evzk__machine_move(&l->m, LISTING);
    l->second = false; /* For all we know. */
    return wait_for(l, ours->own_watch.name, ours);
}

static void take_place(struct evzk_lock *l, const struct evzk__first *stat)
{
    int32_t seq;

    l->known = true;
    l->broken = false;
    l->token = (uint64_t)stat->czxid;
    if (evzk__seq_parse(l->own, mark, &seq))
        evzk__queue_enter(&l->m, l->own, seq);
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

    if (e->reply->first_rc == EVZK_ERR_SERVER)
        return EVZK_ERR_SERVER; /* Perhaps never queued: it proves nothing. */
    if (e->reply->rc != EVZK_OK && e->reply->rc != EVZK_ERR_NONODE)
        return e->reply->rc;
    if (e->reply->rc == EVZK_OK)
        name = evzk__find_prefix(&e->reply->res->names, l->own);
    if (name && strlen(name) < sizeof l->own) {
        strcpy(l->own, name);
        return evzk__machine_move(m, m->stopping ? DELETING : ADOPTING);
    }
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

/* Only what stays is worth a watch of its own: most do not, and a deletion is
 * noticed by then at the latest. */
static bool wants_own_watch(const struct evzk_lock *l)
{
    return l->watch_own && l->m.stayed && !l->m.own_watch.armed;
}

/* Not by exists: that would leave a watch where no znode ever comes. */
static void watch(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);
    bool own = wants_own_watch(l);
    const char *pred = m->pred_watch.armed ? NULL : l->pred;

    if (own || pred)
        evzk__watch(m, own ? l->own : NULL, own, pred);
}

static int read_both(struct evzk__machine *m, const struct evzk__reply *reply)
{
    bool own = m->req.name != NULL;

    if (own && reply->first_rc == EVZK_ERR_NONODE)
        return lose_place(lock_of(m));
    if (own && reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NOAUTH)
        return reply->first_rc;
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
        return evzk__session_certain(m->s) ? evzk__machine_move(m, HELD)
                                           : EVZK_OK;
    case EVZK__EV_DELETED:
        return lose_place(lock_of(m));
    case EVZK__EV_CHANGED:
        return evzk__machine_again(m);
    case EVZK__EV_STAYED:
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

    if (l->suspended || wants_own_watch(l))
        read_own(m);
    if (l->granted)
        return;
    l->granted = true;
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

static int seen_again(struct evzk_lock *l, const struct evzk__reply *reply)
{
    const struct evzk__first *stat = &reply->first;

    if (reply->rc == EVZK_ERR_NONODE ||
        (reply->rc == EVZK_OK && (uint64_t)stat->czxid != l->token))
        return broken(l);
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NOAUTH)
        return lose(l, reply->rc);
    if (l->suspended && evzk__session_certain(l->m.s)) {
        l->suspended = false;
        tell(l, EVZK_LOCK_RESUMED, EVZK_OK);
    }
    return EVZK_OK;
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
    case EVZK__EV_SUSPENDED:
        if (!l->suspended) {
            l->suspended = true;
            tell(l, EVZK_LOCK_SUSPENDED, EVZK_OK);
        }
        return EVZK_OK;
    case EVZK__EV_LEASE_END:
        return lose(l, EVZK_ERR_LEASE);
    }
    return EVZK_OK;
}

static void drop(struct evzk__machine *m) { evzk__delete(m, lock_of(m)->own); }

static int dropped(struct evzk__machine *m, const struct evzk__event *e)
{
    bool gone = e->reply->rc == EVZK_OK || e->reply->rc == EVZK_ERR_NONODE;

    if (e->reply->rc == EVZK_ERR_NONODE)
        evzk__own_gone(m);
    return evzk__machine_finish(m, gone ? m->rc : e->reply->rc);
}

static void end(struct evzk__machine *m) { tell_end(lock_of(m), m->rc); }

static void late(struct evzk__machine *m)
{
    if (m->stopping && m->rc == EVZK_ERR_CANCELED)
        return; /* That is not over before the znode is proved gone. */
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    end_early(lock_of(m), m->rc);
}

static void destroy(struct evzk__machine *m)
{
    struct evzk_lock *l = lock_of(m);

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
static const struct evzk__row rows[STATES] = {
/* state           enter            react         on stop   on expiry flags                may move to */
S(CREATING,        create,          created,      STAY,     CREATING, FRESH,               TO(CREATING)|TO(MAKING_PARENTS)|TO(RESOLVING)|TO(LISTING)|TO(WATCHING)|TO(CONFIRMING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(MAKING_PARENTS,  make_parents,    parents_made, STAY,     CREATING, FRESH,               TO(CREATING)|TO(ENDED)),
S(RESOLVING,       resolve,         resolved,     STAY,     CREATING, RETRY,               TO(CREATING)|TO(ADOPTING)|TO(DELETING)|TO(ENDED)),
S(ADOPTING,        adopt,           adopted,      DELETING, CREATING, RETRY,               TO(CREATING)|TO(LISTING)|TO(DELETING)|TO(ENDED)),
S(LISTING,         list,            listed,       DELETING, CREATING, RETRY,               TO(CREATING)|TO(LISTING)|TO(WATCHING)|TO(CONFIRMING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(WATCHING,        watch,           watched,      DELETING, CREATING, RETRY|WATCHES|STAYS, TO(CREATING)|TO(LISTING)|TO(CONFIRMING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(CONFIRMING,      read_own,        confirmed,    DELETING, CREATING, RETRY|HOLDS|WATCHES, TO(CREATING)|TO(HELD)|TO(DELETING)|TO(ENDED)),
S(HELD,            hold,            held,         DELETING, ENDED,    RETRY|HOLDS|WATCHES|STAYS, TO(DELETING)|TO(ENDED)),
S(DELETING,        drop,            dropped,      STAY,     ENDED,    RETRY,               TO(ENDED)),
S(ENDED,           end,             NULL,         STAY,     STAY,     EVZK__FINAL,         0),
};
/* clang-format on */

const struct evzk__kind evzk__lock_kind = {"lock", mark, rows,
                                           STATES, late, destroy};

static bool options_ok(const evzk_lock_options *o)
{
    for (size_t i = 0; i < sizeof o->reserved / sizeof o->reserved[0]; i++) {
        if (o->reserved[i])
            return false;
    }
    return o->data_len <= EVZK_LOCK_DATA_MAX && (o->data || o->data_len == 0);
}

static int take_given(struct evzk_lock *l, const evzk_lock_options *o)
{
    int rc;

    if (!o->data && !o->acl && !o->acl_count)
        return EVZK_OK;
    l->given = evzk__zalloc(sizeof *l->given);
    if (!l->given)
        return EVZK_ERR_NOMEM;
    rc = evzk__acl_copy(&l->given->acl, o->acl, o->acl_count);
    if (rc != EVZK_OK || !o->data)
        return rc;
    l->given->data = evzk__memdup(o->data, o->data_len);
    l->given->len = (uint32_t)o->data_len;
    return l->given->data ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int take_options(struct evzk_lock *l, const evzk_lock_options *o)
{
    int rc = take_given(l, o);

    if (rc != EVZK_OK)
        return rc;
    l->try_once = o->try_once;
    l->watch_own = !o->no_own_watch;
    l->m.no_requeue = o->no_requeue;
    return EVZK_OK;
}

int evzk_lock_acquire(evzk_session *s, const char *path,
                      const evzk_lock_options *opt, evzk_lock_cb *cb, void *arg,
                      evzk_lock **out)
{
    static const evzk_lock_options defaults;
    struct evzk_lock *l;
    int rc;

    if (!opt)
        opt = &defaults;
    if (!s || !evzk__path_ok(path) || !cb || !out || !options_ok(opt))
        return EVZK_ERR_INVAL;
    rc = evzk__session_check(s);
    if (rc != EVZK_OK)
        return rc;
    l = evzk__zalloc(sizeof *l);
    if (!l)
        return EVZK_ERR_NOMEM;
    l->cb = cb;
    l->arg = arg;
    rc = take_options(l, opt);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&l->m, s, &evzk__lock_kind, path,
                                opt->timeout_ms);
    if (rc != EVZK_OK) {
        destroy(&l->m);
        return rc;
    }
    *out = l;
    return EVZK_OK;
}

static int stop(struct evzk_lock *l, bool want_granted, int rc)
{
    if (!l)
        return EVZK_ERR_INVAL;
    if (!l->m.ended && evzk__session_forked(l->m.s))
        return EVZK_ERR_FORKED;
    if (l->m.ended || l->m.stopping || l->granted != want_granted)
        return EVZK_ERR_STATE;
    l->released = want_granted;
    evzk__machine_stop(&l->m, rc);
    return EVZK_OK;
}

int evzk_lock_cancel(evzk_lock *l) { return stop(l, false, EVZK_ERR_CANCELED); }

int evzk_lock_release(evzk_lock *l) { return stop(l, true, EVZK_OK); }

void evzk_lock_free(evzk_lock *l)
{
    if (l) {
        l->cb = NULL;
        evzk__machine_stop(&l->m, EVZK_ERR_CANCELED);
        evzk__machine_unref(&l->m);
    }
}

bool evzk_lock_held(const evzk_lock *l)
{
    return l && l->granted && !l->m.ended && !l->m.stopping &&
           l->m.gen == l->m.s->gen && evzk_session_lease_ms(l->m.s) > 0;
}

uint32_t evzk_lock_lease_ms(const evzk_lock *l)
{
    return evzk_lock_held(l) ? evzk_session_lease_ms(l->m.s) : 0;
}

uint64_t evzk_lock_token(const evzk_lock *l)
{
    return l && l->granted ? l->token : 0;
}

const char *evzk_lock_node(const evzk_lock *l)
{
    return l && l->known ? l->own : "";
}

const char *evzk_lock_state(const evzk_lock *l)
{
    return l ? evzk__machine_state(&l->m) : "";
}
