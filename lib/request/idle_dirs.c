/* Deletes empty directories that other evzk processes left behind.
 *
 * A session that made a directory together with its contender deletes it
 * together with that contender, unless another contender came, or the session
 * died.  In those cases the last contender to leave does not know that the
 * directory may go.  So a directory that looks like one that evzk made is
 * checked when this session has not used it for a while: if it has evzk's mark,
 * and is empty, it is deleted. (The server refuses if it is not empty any
 * more.)  A directory that no session uses again stays.
 */
#include "lib/request/idle_dirs.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/request/core.h"

enum { AT_ONCE = 64 };

struct evzk__idle_dir_check {
    LIST_ENTRY(evzk__idle_dir_check) link;
    struct evzk__core *s;
    struct evzk__dir *dir;
    struct evzk__request req;
};

/* Ends a check.  If it does not know the outcome, the directory will be checked
 * another time. */
static void finish(struct evzk__idle_dir_check *t, bool knows)
{
    struct evzk__core *s = t->s;

    LIST_REMOVE(t, link);
    s->n_tidies--;
    if (t->dir->refs == 1 && knows)
        t->dir->check_empty = t->dir->exists =
            false; /* No other check is needed. */
    evzk__dir_put(s, t->dir);
    evzk__free(t);
}

static bool may_go(const struct evzk__reply *reply)
{
    const struct evzk__result *res = reply->res;

    return reply->rc == EVZK_OK && evzk__dir_looks_made_by_us(&res->stat) &&
           res->stat.children == 0 && res->len == strlen(evzk__dir_mark) &&
           memcmp(res->data, evzk__dir_mark, res->len) == 0;
}

/* Again by the same request, where the answer was lost: so the session finds
 * out if the servers hang up at it, each time (request/suspect.h). */
static void read_dir(struct evzk__idle_dir_check *t)
{
    static const struct evzk__step steps[] = {
        {.verb = EVZK__STEP_GET, .name = ""}};

    t->req.op = EVZK__READS;
    t->req.steps = steps;
    t->req.n = 1;
    evzk__request_submit(t->s, &t->req);
}

static void done(struct evzk__request *r, const struct evzk__reply *reply)
{
    struct evzk__idle_dir_check *t =
        evzk__container_of(r, struct evzk__idle_dir_check, req);
    bool knows = reply->rc != EVZK_ERR_CONNLOSS && reply->rc != EVZK_ERR_NOMEM;

    if (reply->rc == EVZK_ERR_CONNLOSS && t->dir->refs == 1)
        read_dir(t);
    else if (r->op == EVZK__READS && t->dir->refs == 1 && may_go(reply)) {
        r->op = EVZK__RMDIR;
        t->dir->exists = false; /* A newcomer must make it anew. */
        t->dir->missing = true;
        evzk__request_submit(t->s, r);
    } else {
        finish(t, knows);
    }
}

static void start(struct evzk__core *s, struct evzk__dir *d)
{
    struct evzk__idle_dir_check *t =
        d->check_empty ? evzk__zalloc(sizeof *t) : NULL;

    evzk__dir_wakes(s, d);
    d->refs++;
    if (!t) { /* No check now. */
        d->exists = false;
        evzk__dir_put(s, d);
        return;
    }
    t->s = s;
    t->dir = d;
    t->req.done = done;
    t->req.dir = d;
    LIST_INSERT_HEAD(&s->idle_dir_checks, t, link);
    s->n_tidies++;
    read_dir(t);
}

void evzk__idle_dirs_step(struct evzk__core *s)
{
    int64_t until = evzk__now_us() + EVZK__BUDGET_US;
    struct evzk__dir *d;

    for (unsigned n = 0; (d = TAILQ_FIRST(&s->idle)) != NULL; n++) {
        if (s->n_tidies == AT_ONCE || (uint8_t)(s->tick - d->tick) < 2)
            return;
        start(s, d);
        if (evzk__budget_spent(n, until)) {
            s->more = true;
            return;
        }
    }
}

void evzk__idle_dirs_clear(struct evzk__core *s)
{
    struct evzk__dir *d;
    struct evzk__idle_dir_check *t;

    while ((t = LIST_FIRST(&s->idle_dir_checks)) != NULL) {
        evzk__request_cancel(s, &t->req);
        finish(t, true);
    }
    while ((d = TAILQ_FIRST(&s->idle)) != NULL) {
        evzk__dir_wakes(s, d);
        d->check_empty = d->exists = false;
        d->refs++;
        evzk__dir_put(s, d);
    }
}
