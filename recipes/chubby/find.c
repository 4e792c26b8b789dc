/* Finds the anchor of a file that the handle has not made.
 *
 *   LISTING --> READING --> ENDED
 *
 * LISTING lists the directory of the lock; READING reads the anchors there. The
 * file's anchor has the file's czxid, since the two were made in one
 * transaction.
 *
 * How it can fail.  Another program has made the file: then there is no such
 * anchor.  An anchor that went between the two looks may be the file's:
 * LISTING looks whether the file is there.  An operator may have deleted a file
 * by hand, and its anchor was left: that has another czxid.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/kinds.h"
#include "recipes/parts/read_all.h"

enum { LISTING, READING, ENDED, STATES };

struct evzk__finder {
    struct evzk__machine m; /* Its directory is the lock's. */
    evzk__found_cb *cb;     /* NULL once the owner freed it. */
    void *arg;
    int64_t instance;
    struct evzk__read_all all;
    struct evzk__step step[3];
    int names_rc;
    bool listed; /* The directory is there, and its anchors are in `all`. */
    bool gone;   /* An anchor went before it was read, as with its file. */
    char *path;  /* Owned: of the file. */
    char anchor[EVZK__NAME_MAX]; /* ""; not found so far. */
};

static struct evzk__finder *finder_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__finder, m);
}

/* The steps of LISTING. */
enum { SYNC, NAMES, THE_FILE };

static void list(struct evzk__machine *m)
{
    struct evzk__finder *f = finder_of(m);

    f->listed = f->gone = false;
    f->step[SYNC] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    f->step[NAMES] =
        (struct evzk__step){.verb = EVZK__STEP_CHILDREN, .name = ""};
    f->step[THE_FILE] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = f->path};
    evzk__ask(m, f->step, 3, EVZK__EACH);
}

/* The anchors among the names.  0, or EVZK_ERR_NOMEM. */
static int take_anchors(struct evzk__finder *f, const struct evzk__names *names)
{
    char **v = evzk__zalloc(names->n * sizeof *v);
    struct evzk__names anchors = {.v = v};
    int rc = EVZK_ERR_NOMEM;

    for (size_t i = 0; v && i < names->n; i++) {
        if (evzk__chubby_is_anchor(names->v[i]))
            v[anchors.n++] = names->v[i];
    }
    if (v)
        rc = evzk__read_all_take(&f->all, "", &anchors);
    evzk__free(v);
    return rc;
}

/* Is there an answer about the names, and none of them is lost? */
static int take_names(struct evzk__finder *f, const struct evzk__reply *reply)
{
    if (reply->rc == EVZK_ERR_NONODE)
        return EVZK_OK;
    if (reply->rc != EVZK_OK)
        return reply->rc;
    f->listed = true;
    return take_anchors(f, &reply->res->names);
}

/* The file is another instance, with an anchor of its own, or gone. */
static bool is_other(const struct evzk__finder *f,
                     const struct evzk__reply *reply)
{
    return reply->rc == EVZK_ERR_NONODE ||
           (reply->rc == EVZK_OK && reply->res->stat.czxid != f->instance);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__finder *f = finder_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == NAMES)
        f->names_rc = take_names(f, reply);
    if (!reply->last)
        return EVZK_OK;
    if (is_other(f, reply))
        return EVZK_ERR_NODEGONE;
    if (reply->rc != EVZK_OK || f->names_rc != EVZK_OK)
        return f->names_rc == EVZK_ERR_NOMEM ? evzk__machine_again_later(m)
               : reply->rc != EVZK_OK        ? reply->rc
                                             : f->names_rc;
    return f->listed && f->all.n ? evzk__machine_move(m, READING)
                                 : evzk__machine_finish(m, EVZK_OK);
}

static void read_anchors(struct evzk__machine *m)
{
    evzk__read_all_ask(m, &finder_of(m)->all);
}

static int anchors_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__finder *f = finder_of(m);
    const struct evzk__reply *reply = e->reply;
    int rc;

    f->gone = f->gone || reply->rc == EVZK_ERR_NONODE;
    if (reply->rc == EVZK_OK && reply->res->stat.czxid == f->instance)
        strcpy(f->anchor, evzk__read_all_name(&f->all, reply));
    if (!evzk__read_all_note(&f->all, reply, &rc))
        return EVZK_OK; /* More are to come. */
    if ((rc != EVZK_OK || f->gone) && !f->anchor[0])
        return evzk__machine_move(m, LISTING);
    return evzk__machine_finish(m, EVZK_OK);
}

static void end(struct evzk__machine *m)
{
    struct evzk__finder *f = finder_of(m);

    if (f->cb)
        f->cb(f->arg, m->rc, f->anchor);
}

static void destroy(struct evzk__machine *m)
{
    struct evzk__finder *f = finder_of(m);

    evzk__read_all_clear(&f->all);
    evzk__free(f->path);
    evzk__free(f);
}

/* NEVER: the handle ends with the session, and frees the finder first. */
/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry         reaction      main     on stop  on expiry flags */
ROW(LISTING, list,         listed,       READING, ENDED,   LISTING,  RETRY|NOTHING_SENT,
    ON(REPLY, READING, ENDED, FAIL, HERE), RARELY(REPLY, LISTING),
    ON(EXPIRED, NEVER)),
ROW(READING, read_anchors, anchors_read, ENDED,   ENDED,   LISTING,  0,
    ON(REPLY, ENDED, LISTING, HERE),
    ON(EXPIRED, NEVER)),
END(ENDED,   end),
};
/* clang-format on */

const struct evzk__kind evzk__chubby_anchor_kind = {.name = "chubby-anchor",
                                                    .rows = rows,
                                                    .n_rows = STATES,
                                                    .destroy = destroy};

int evzk__finder_start(evzk_session *s, const char *dir, const char *path,
                       int64_t instance, evzk__found_cb *cb, void *arg,
                       struct evzk__finder **out)
{
    struct evzk__finder *f = evzk__zalloc(sizeof *f);
    int rc;

    if (!f)
        return EVZK_ERR_NOMEM;
    f->cb = cb;
    f->arg = arg;
    f->instance = instance;
    f->path = evzk__strdup(path);
    if (!f->path) {
        evzk__free(f);
        return EVZK_ERR_NOMEM;
    }
    rc = evzk__machine_begin(&f->m, s, &evzk__chubby_anchor_kind, dir, 0);
    if (rc == EVZK_OK)
        *out = f;
    return rc;
}

void evzk__finder_free(struct evzk__finder *f)
{
    if (f) {
        f->cb = NULL;
        evzk__machine_let_go(&f->m);
    }
}
