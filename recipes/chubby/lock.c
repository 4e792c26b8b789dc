/* The lock of a file, with its lock-delay.
 *
 *   WAITING --> LOOKING --> MARKING --> HELD --> UNMARKING --> LEAVING -->
 * ENDED |           ^
 *                  '-> DELAYED-'
 *
 * WAITING   a lock (recipes/lock) waits in the queue
 * LOOKING   it is granted: lists what former holders have left
 * DELAYED   one of them has ended in an unclean way: waits for its lock-delay
 * MARKING   makes the own mark, and deletes those of former holders
 * UNMARKING the lock is given back: deletes the own mark
 * LEAVING   the lock in the queue goes; once the handle is done with it, in the
 *           background
 *
 * A mark is persistent, and has the name of its holder's znode, which is
 * ephemeral.  So a mark without that znode says that its holder did not give
 * the lock back.  The delay is counted from when the next holder has seen that,
 * by its own clock: no clocks are compared.  Meanwhile the next holder has the
 * lock already, and nobody else can get it.
 *
 * How it can fail.  The transaction of MARKING checks the own znode: so a mark
 * is never made by a holder that has lost the lock.  Its answer may be lost:
 * then it is sent again, and finds the own mark, or no old ones.  If the next
 * holder ends while it waits, the old mark is still there, and the one after it
 * waits anew.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/machine/rows.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/kinds.h"

enum {
    WAITING,
    LOOKING,
    DELAYED,
    MARKING,
    HELD,
    UNMARKING,
    LEAVING,
    ENDED,
    STATES
};

static struct evzk__chubby_lock *lock_in(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__chubby_lock, m);
}

/* ---- The lock in the queue. ---- */

static void take_event(struct evzk__chubby_lock *l, evzk_lock_event ev, int rc)
{
    switch (ev) {
    case EVZK_LOCK_GRANTED:
        l->inner = INNER_GRANTED;
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        l->inner = INNER_OVER;
        l->inner_rc = rc;
        break;
    case EVZK_LOCK_SUSPENDED:
    case EVZK_LOCK_RESUMED:
    case EVZK_LOCK_REQUEUED:
    case EVZK_LOCK_DOWNGRADED:
    case EVZK_LOCK_REVOKE_REQUESTED:
        return;
    }
    evzk__machine_ask(&l->m);
}

/* A holder hears of its loss at once.  May free the handle. */
static void tell_lost(struct evzk__chubby_lock *l)
{
    if (l->inner != INNER_OVER || !l->held || l->leaves)
        return;
    l->leaves = l->lost = true;
    l->marked = false; /* The mark stays: that is the unclean end. */
    l->rc = l->inner_rc;
    if (l->h)
        l->hooks->lost(l->h, l->inner_rc);
}

static void heard(evzk_lock *lock, evzk_lock_event ev, int rc, void *arg)
{
    struct evzk__chubby_lock *l = arg;
    evzk_session *s = evzk__machine_session(&l->m);
    int64_t begun = evzk__machine_call_in(s);

    (void)lock;
    take_event(l, ev, rc);
    tell_lost(l);
    evzk__machine_called_in(s, begun);
}

static void acquire(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);
    const evzk_lock_options opt = {.mode = l->shared ? EVZK_LOCK_READ
                                                     : EVZK_LOCK_WRITE,
                                   .try_once = l->try_once,
                                   .acl = l->acl.v,
                                   .acl_count = l->acl.n};

    int rc = evzk_lock_acquire(evzk__machine_session(m), evzk__machine_path(m),
                               &opt, heard, l, &l->lock);

    l->inner = rc == EVZK_OK ? INNER_WAITS : INNER_OVER;
    l->inner_rc = rc;
    if (rc != EVZK_OK)
        evzk__machine_ask(m);
}

/* The lock in the queue has ended, or is to end; the mark goes before it. */
static int leave(struct evzk__chubby_lock *l, int rc)
{
    l->rc = l->leaves ? l->rc : rc;
    l->leaves = true;
    return evzk__machine_move(&l->m, l->marked ? UNMARKING : LEAVING);
}

static int waited(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = lock_in(m);

    (void)e;
    if (l->leaves || l->inner == INNER_OVER)
        return leave(l, l->inner_rc);
    return l->inner == INNER_GRANTED ? evzk__machine_move(m, LOOKING) : EVZK_OK;
}

/* ---- What former holders have left. ---- */

static void look(struct evzk__machine *m)
{
    static const struct evzk__step list = {.verb = EVZK__STEP_CHILDREN,
                                           .name = ""};

    evzk__ask(m, &list, 1, EVZK__SOON);
}

static bool is_there(const struct evzk__names *names, const char *node)
{
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->v[i], node) == 0)
            return true;
    }
    return false;
}

static struct evzk__old_mark *find_old(struct evzk__old_marks *old,
                                       const char *name)
{
    for (unsigned i = 0; old && i < old->n; i++) {
        if (strcmp(old->v[i].name, name) == 0)
            return &old->v[i];
    }
    return NULL;
}

static void add_old(struct evzk__old_marks *to, struct evzk__old_marks *before,
                    const char *name, uint32_t ms)
{
    const struct evzk__old_mark *known = find_old(before, name);
    struct evzk__old_mark *mark = &to->v[to->n++];

    strcpy(mark->name, name);
    mark->until_us =
        known ? known->until_us : evzk__now_us() + ms * INT64_C(1000);
}

/* Is this the mark of a former holder, in the way of this one? */
static bool is_old(const struct evzk__chubby_lock *l,
                   const struct evzk__names *names, const char *name,
                   struct evzk__delay *d)
{
    return evzk__chubby_mark_parse(name, d) && !(l->shared && d->shared) &&
           !is_there(names, d->node);
}

/* Notes the marks in the way of this holder, up to OLD_MAX of them: the rest
 * comes when these are gone.  A mark that was known before keeps its time.  0,
 * or EVZK_ERR_NOMEM. */
static int note_old(struct evzk__chubby_lock *l,
                    const struct evzk__names *names)
{
    struct evzk__old_marks *now = evzk__zalloc(sizeof *now);
    struct evzk__delay d;

    if (!now)
        return EVZK_ERR_NOMEM;
    l->until_us = 0;
    l->more = false;
    for (size_t i = 0; i < names->n && !l->more; i++) {
        if (!is_old(l, names, names->v[i], &d))
            continue;
        l->more = now->n == EVZK__CHUBBY_OLD_MAX;
        if (l->more)
            break;
        add_old(now, l->old, names->v[i], d.ms);
        if (l->until_us < now->v[now->n - 1].until_us)
            l->until_us = now->v[now->n - 1].until_us;
    }
    evzk__free(l->old);
    l->old = now;
    return EVZK_OK;
}

static int go_on(struct evzk__chubby_lock *l)
{
    if (l->old->n == 0 && (l->delay_ms == 0 || l->has_mark))
        return evzk__machine_move(&l->m, HELD);
    return evzk__machine_move(&l->m, MARKING);
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = lock_in(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->rc == EVZK_ERR_NONODE) /* And so is the own znode. */
        return leave(l, EVZK_ERR_NODEGONE);
    if (reply->rc != EVZK_OK)
        return leave(l, reply->rc);
    l->has_mark = l->mark[0] && is_there(&reply->res->names, l->mark);
    l->marked = l->has_mark;
    if (l->leaves || l->inner == INNER_OVER)
        return leave(l, l->inner_rc);
    if (note_old(l, &reply->res->names) != EVZK_OK)
        return evzk__machine_again_later(m);
    if (evzk__now_us() >= l->until_us)
        return go_on(l);
    return l->try_once ? leave(l, EVZK_ERR_BUSY)
                       : evzk__machine_move(m, DELAYED);
}

static void wait_on(void *lock)
{
    struct evzk__chubby_lock *l = lock;

    evzk__machine_ask(&l->m);
}

static void delay(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);
    int64_t left_us = l->until_us - evzk__now_us();

    evzk__timer_set(l->wait, left_us > 0 ? left_us : 0);
}

static int delayed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = lock_in(m);

    (void)e;
    if (l->leaves || l->inner == INNER_OVER)
        return leave(l, l->inner_rc);
    if (evzk__now_us() < l->until_us) {
        delay(m);
        return EVZK_OK;
    }
    return evzk__machine_move(m, MARKING);
}

/* ---- The own mark. ---- */

static void mark(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);
    struct evzk__create_args session = evzk__default_args(m, NULL);
    uint32_t n = 0;

    evzk__chubby_mark(l->mark, evzk_lock_node(l->lock), l->delay_ms);
    l->step[n++] = (struct evzk__step){.verb = EVZK__STEP_CHECK,
                                       .name = evzk_lock_node(l->lock)};
    for (unsigned i = 0; i < l->old->n; i++)
        l->step[n++] = (struct evzk__step){.verb = EVZK__STEP_DELETE,
                                           .name = l->old->v[i].name};
    l->marked = l->delay_ms != 0;
    if (l->delay_ms && !l->has_mark)
        l->step[n++] = (struct evzk__step){
            .verb = EVZK__STEP_CREATE,
            .mode = EVZK__PERSISTENT,
            .name = l->mark,
            .acl = l->acl.v ? l->acl.v : session.acl,
            .acl_count = l->acl.v ? l->acl.n : session.acl_count};
    evzk__ask(m, l->step, n, EVZK__COMMIT | EVZK__SOON);
}

static int marked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = lock_in(m);
    int rc = e->reply->rc;

    if (l->inner == INNER_OVER && !l->leaves) {
        l->rc = l->inner_rc;
        l->leaves = true;
    }
    if (l->leaves)
        return evzk__machine_move(m, UNMARKING);
    if (rc == EVZK_OK)
        return evzk__machine_move(m, l->more ? LOOKING : HELD);
    /* Another holder has deleted a mark, or the first answer was lost. */
    if (rc == EVZK_ERR_NODEEXISTS ||
        (rc == EVZK_ERR_NONODE && e->reply->part != 0))
        return evzk__machine_move(m, LOOKING);
    /* Without the own znode the lock will tell so. */
    l->rc = rc == EVZK_ERR_NONODE ? EVZK_ERR_NODEGONE : rc;
    l->leaves = true;
    return evzk__machine_move(m, UNMARKING);
}

/* ---- Held, and given back. ---- */

/* Entered again after a lost connection.  A lock that was lost meanwhile, or
 * whose session is being closed, tells so soon. */
static void hold(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);

    evzk__machine_ask(m);
    if (l->held || !l->h || l->inner != INNER_GRANTED || l->leaves ||
        !evzk_lock_held(l->lock))
        return;
    l->held = true;
    l->hooks->acquired(l->h);
}

static int still_held(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = lock_in(m);

    (void)e;
    if (l->inner == INNER_OVER)
        return leave(l, l->inner_rc);
    return l->leaves ? evzk__machine_move(m, UNMARKING) : EVZK_OK;
}

static void unmark(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);

    if (!l->marked) {
        evzk__machine_move(m, LEAVING);
        return;
    }
    l->step[0] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = l->mark};
    evzk__ask(m, l->step, 1, 0);
}

static int unmarked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = lock_in(m);
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    if (rc != EVZK_OK && rc != EVZK_ERR_NONODE && l->rc == EVZK_OK)
        l->rc = rc;
    l->marked = false;
    return leave(l, l->rc);
}

/* Once the handle is done with it, the lock in the queue goes by itself. */
static void give_back(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);

    if (m->stopping) {
        evzk__machine_finish(m, l->rc);
        return;
    }
    if (l->lock && evzk_lock_release(l->lock) == EVZK_ERR_STATE)
        evzk_lock_cancel(l->lock);
    evzk__machine_ask(m);
}

static int given_back(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = lock_in(m);
    int rc = l->rc;

    (void)e;
    if (l->inner != INNER_OVER)
        return EVZK_OK;
    if (rc == EVZK_OK && l->inner_rc != EVZK_ERR_CANCELED)
        rc = l->inner_rc;
    return evzk__machine_finish(m, rc);
}

static void end(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);
    struct evzk_chubby *h = l->h;

    if (!h)
        return;
    h->old = l->old;
    l->old = NULL;
    l->hooks->ended(h, m->rc);
}

static void detach(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);

    evzk__timer_free(l->wait);
    l->wait = NULL;
    evzk_lock_free(l->lock);
    l->lock = NULL;
}

static void destroy(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = lock_in(m);

    evzk__timer_free(l->wait);
    evzk__acl_free(&l->acl);
    evzk__free(l->old);
    evzk__free(l->release);
    evzk__free(l);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*   state      entry      reaction    main         on stop      on expiry flags */
ROW(WAITING,   acquire,   waited,     LOOKING,   LEAVING,   ENDED,  0,
    ON(USER_EVENT, LOOKING, LEAVING)),
ROW(LOOKING,   look,      looked,     MARKING,   UNMARKING, ENDED,  RETRY,
    ON(REPLY, DELAYED, MARKING, HELD, UNMARKING, LEAVING)),
ROW(DELAYED,   delay,     delayed,    ASIDE,     UNMARKING, ENDED,  RETRY,
    ON(USER_EVENT, MARKING, UNMARKING, LEAVING), RARELY(USER_EVENT, HERE)),
ROW(MARKING,   mark,      marked,     HELD,      UNMARKING, ENDED,  RETRY,
    ON(REPLY, HELD, LOOKING, UNMARKING)),
ROW(HELD,      hold,      still_held, UNMARKING, UNMARKING, ENDED,  RETRY,
    ON(USER_EVENT, UNMARKING, LEAVING, HERE)),
ROW(UNMARKING, unmark,    unmarked,   LEAVING,   STAY,        ENDED,  RETRY,
    ON(ENTRY, LEAVING),
    ON(REPLY, LEAVING),
    ON(STOP,  LEAVING)),
ROW(LEAVING,   give_back, given_back, ENDED,     ENDED,       ENDED,  0,
    ON(ENTRY,      ENDED),
    ON(USER_EVENT, ENDED, HERE)),
END(ENDED,      end),
};
/* clang-format on */

const struct evzk__kind evzk__chubby_lock_kind = {.name = "chubby-lock",
                                                  .rows = rows,
                                                  .n_rows = STATES,
                                                  .destroy = destroy,
                                                  .detach = detach};

/* ---- For the handle. ---- */

static int start(struct evzk_chubby *h, struct evzk__chubby_lock *l)
{
    evzk_session *s = evzk__machine_session(&h->m);
    int rc = evzk__acl_copy(&l->acl, h->acl.v, h->acl.n);

    l->release = evzk__chubby_op_new(OP_RELEASE, NULL, 0);
    if (rc == EVZK_OK && !l->release)
        rc = EVZK_ERR_NOMEM;
    if (rc == EVZK_OK) {
        l->wait = evzk__session_timer(s, wait_on, l);
        rc = l->wait ? EVZK_OK : EVZK_ERR_NOMEM;
    }
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&l->m, s, &evzk__chubby_lock_kind,
                                evzk__machine_path(&h->m), 0);
    if (rc != EVZK_OK)
        destroy(&l->m);
    return rc;
}

int evzk__chubby_lock_begin(struct evzk_chubby *h,
                            const struct evzk__chubby_lock_hooks *hooks,
                            bool shared, bool try_once,
                            struct evzk__chubby_lock **out)
{
    struct evzk__chubby_lock *l = evzk__zalloc(sizeof *l);
    int rc;

    if (!l)
        return EVZK_ERR_NOMEM;
    l->h = h;
    l->hooks = hooks;
    l->shared = shared;
    l->try_once = try_once;
    l->delay_ms = h->delay_ms;
    rc = start(h, l);
    if (rc != EVZK_OK)
        return rc;
    l->old = h->old;
    h->old = NULL;
    *out = l;
    return EVZK_OK;
}

void evzk__chubby_lock_leave(struct evzk__chubby_lock *l)
{
    if (l->leaves)
        return;
    l->leaves = true;
    evzk__machine_ask(&l->m);
}

void evzk__chubby_lock_drop(struct evzk__chubby_lock *l)
{
    l->h = NULL;
    l->leaves = true;
    evzk__machine_let_go(&l->m);
}

bool evzk__chubby_lock_held(const struct evzk__chubby_lock *l)
{
    return l && l->held && !l->leaves && l->lock && evzk_lock_held(l->lock);
}
