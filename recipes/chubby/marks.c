/* The marks of holders that want a lock-delay: the own one, and those that
 * former holders have left.
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
 * holder ends while it waits, the old mark is still there, and the holder after
 * it waits anew.  Somebody may have put a znode below a mark: that mark stays,
 * and the log names it; its delay counts, and then the lock is held all the
 * same, but every holder waits for it, until somebody deletes both.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "recipes/chubby/chubby_internal.h"

/* ---- Those that former holders have left. ---- */

void evzk__chubby_marks_look(struct evzk__machine *m)
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
        return evzk__machine_move(&l->m, EVZK__LOCK_HELD);
    return evzk__machine_move(&l->m, EVZK__LOCK_MARKING);
}

int evzk__chubby_marks_looked(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->rc == EVZK_ERR_NONODE) /* And so is the own znode. */
        return evzk__chubby_lock_go(l, EVZK_ERR_NODEGONE);
    if (reply->rc != EVZK_OK)
        return evzk__chubby_lock_go(l, reply->rc);
    l->has_mark = l->mark[0] && is_there(&reply->res->names, l->mark);
    l->marked = l->has_mark;
    if (l->leaves || l->inner == INNER_OVER)
        return evzk__chubby_lock_go(l, l->inner_rc);
    if (note_old(l, &reply->res->names) != EVZK_OK)
        return evzk__machine_again_later(m);
    if (evzk__now_us() >= l->until_us)
        return go_on(l);
    return l->try_once ? evzk__chubby_lock_go(l, EVZK_ERR_BUSY)
                       : evzk__machine_move(m, EVZK__LOCK_DELAYED);
}

void evzk__chubby_marks_go_on(void *lock)
{
    struct evzk__chubby_lock *l = lock;

    evzk__machine_ask(&l->m);
}

void evzk__chubby_marks_delay(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    int64_t left_us = l->until_us - evzk__now_us();

    evzk__timer_set(l->wait, left_us > 0 ? left_us : 0);
}

int evzk__chubby_marks_delayed(struct evzk__machine *m,
                               const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    (void)e;
    if (l->leaves || l->inner == INNER_OVER)
        return evzk__chubby_lock_go(l, l->inner_rc);
    if (evzk__now_us() < l->until_us) {
        evzk__chubby_marks_delay(m);
        return EVZK_OK;
    }
    return evzk__machine_move(m, EVZK__LOCK_MARKING);
}

/* ---- The own one. ---- */

void evzk__chubby_marks_mark(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    struct evzk__create_args session = evzk__default_args(m, NULL);
    uint32_t n = 0;

    evzk__chubby_mark(l->mark, evzk_lock_node(l->lock), l->delay_ms);
    l->step[n++] = (struct evzk__step){.verb = EVZK__STEP_CHECK,
                                       .name = evzk_lock_node(l->lock)};
    for (unsigned i = 0; i < l->old->n; i++) {
        if (!l->old->v[i].stays)
            l->step[n++] = (struct evzk__step){.verb = EVZK__STEP_DELETE,
                                               .name = l->old->v[i].name};
    }
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

/* A mark cannot be deleted, by its step in the transaction.  False: no room is
 * left for those that can. */
static bool leave_old(struct evzk__chubby_lock *l, unsigned part)
{
    struct evzk__old_mark *mark =
        find_old(l->old, part > 0 ? l->step[part].name : "");
    unsigned n = 0;

    if (!mark)
        return false;
    mark->stays = true;
    evzk__log(evzk__machine_session(&l->m), EVZK_LOG_WARN,
              "chubby: %s/%s cannot be deleted, since a znode is below it: "
              "each holder waits for this lock-delay until both are deleted",
              evzk__machine_path(&l->m), mark->name);
    for (unsigned i = 0; i < l->old->n; i++)
        n += l->old->v[i].stays;
    return n < EVZK__CHUBBY_OLD_MAX;
}

int evzk__chubby_marks_marked(struct evzk__machine *m,
                              const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    int rc = e->reply->rc;

    if (l->inner == INNER_OVER && !l->leaves) {
        l->rc = l->inner_rc;
        l->leaves = true;
    }
    if (l->leaves)
        return evzk__machine_move(m, EVZK__LOCK_UNMARKING);
    if (rc == EVZK_OK)
        return evzk__machine_move(m, l->more ? EVZK__LOCK_LOOKING
                                             : EVZK__LOCK_HELD);
    /* An old mark was deleted by another holder, or the first answer was
     * lost. */
    if (rc == EVZK_ERR_NODEEXISTS ||
        (rc == EVZK_ERR_NONODE && e->reply->part != 0))
        return evzk__machine_move(m, EVZK__LOCK_LOOKING);
    if (rc == EVZK_ERR_NOTEMPTY && leave_old(l, e->reply->part))
        return evzk__machine_again(m);
    /* Without the own znode the lock will tell so. */
    l->rc = rc == EVZK_ERR_NONODE ? EVZK_ERR_NODEGONE : rc;
    l->leaves = true;
    return evzk__machine_move(m, EVZK__LOCK_UNMARKING);
}

void evzk__chubby_marks_unmark(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    if (!l->marked) {
        evzk__machine_move(m, EVZK__LOCK_LEAVING);
        return;
    }
    l->step[0] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = l->mark};
    evzk__ask(m, l->step, 1, 0);
}

int evzk__chubby_marks_unmarked(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    l->mark_stands = rc != EVZK_OK && rc != EVZK_ERR_NONODE;
    if (l->mark_stands && l->rc == EVZK_OK)
        l->rc = rc;
    l->marked = false;
    return evzk__chubby_lock_go(l, l->rc);
}
