/* Making parents on demand.
 *
 * A maker makes one directory, for all requests below it.  If the directory
 * above is missing, the maker waits for that directory's maker.  So ten
 * thousand locks below one missing directory cause one request for it.
 */
#include "lib/request/parents.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/request/core.h"

struct evzk__maker {
    RB_ENTRY(evzk__maker) node;
    struct evzk__core *s;
    struct evzk__dir *dir;
    struct evzk__request req;
    struct evzk__request_queue waiting;
    struct evzk__acl acl; /* A copy: the asking machine may end. */
    bool plain;           /* No container, as a request below it wants. */
    unsigned tries;
};

/* How often to try again, if the server deletes an empty container meanwhile.
 */
enum { TRIES = 16 };

static int compare(const struct evzk__maker *a, const struct evzk__maker *b)
{
    return strcmp(a->dir->path, b->dir->path);
}

RB_GENERATE_INTERNAL(evzk__maker_tree, evzk__maker, node, compare,
                     __attribute__((unused)) static)

static void destroy(struct evzk__maker *m)
{
    evzk__dir_put(m->s, m->dir);
    evzk__acl_free(&m->acl);
    evzk__free(m);
}

static void finish(struct evzk__maker *m, int rc)
{
    struct evzk__request *r;

    while ((r = TAILQ_FIRST(&m->waiting)) != NULL) {
        TAILQ_REMOVE(&m->waiting, r, link);
        evzk__request_answer_rc(m->s, r, rc);
    }
    RB_REMOVE(evzk__maker_tree, &m->s->makers, m);
    destroy(m);
}

static void make(struct evzk__maker *m)
{
    m->req.op = EVZK__MKDIR;
    /* The server deletes empty containers: the chroot is plain. */
    m->req.plain = m->plain || strlen(m->dir->path) <= strlen(m->s->chroot);
    evzk__request_submit(m->s, &m->req);
}

/* The directory above is missing: have it made first. */
static void make_above(struct evzk__maker *m)
{
    if (m->tries++ == TRIES) {
        finish(m, EVZK_ERR_NONODE);
        return;
    }
    m->req.op = EVZK__PARENTS;
    m->req.plain = m->plain;
    m->req.name = NULL; /* While it waited, the list was noted there. */
    evzk__request_submit(m->s, &m->req);
}

static void made(struct evzk__maker *m, int rc)
{
    if (rc == EVZK_ERR_NONODE)
        make_above(m);
    else if (rc == EVZK_ERR_CONNLOSS)
        make(m); /* Making a directory twice does no harm. */
    else
        finish(m, rc == EVZK_ERR_NODEEXISTS ? EVZK_OK : rc);
}

static void done(struct evzk__request *r, const struct evzk__reply *reply)
{
    struct evzk__maker *m = evzk__container_of(r, struct evzk__maker, req);

    if (r->op == EVZK__MKDIR)
        made(m, reply->rc);
    else if (reply->rc == EVZK_OK)
        make(m);
    else
        finish(m, reply->rc);
}

/* No maker of parents is in a callback here, so the buffer for paths is free.
 * If the request has a name, the directory itself is made, too. */
static const char *above(struct evzk__core *s, const struct evzk__request *r)
{
    char *path = s->requests.path[1];

    strcpy(path, r->dir->path);
    if (!r->name)
        *strrchr(path, '/') = '\0';
    return path;
}

static struct evzk__maker *find(struct evzk__core *s, const char *path)
{
    struct evzk__maker key = {.dir = evzk__dir_find(s, path)};

    return key.dir ? RB_FIND(evzk__maker_tree, &s->makers, &key) : NULL;
}

static struct evzk__maker *start(struct evzk__core *s, const char *path,
                                 const struct evzk__request *r)
{
    struct evzk__maker *m = evzk__zalloc(sizeof *m);

    if (!m)
        return NULL;
    m->s = s;
    m->dir = evzk__dir_get(s, path, "");
    if (!m->dir) {
        evzk__free(m);
        return NULL;
    }
    if (evzk__acl_copy(&m->acl, r->acl, r->acl_count) != EVZK_OK) {
        destroy(m);
        return NULL;
    }
    TAILQ_INIT(&m->waiting);
    m->req.done = done;
    m->req.dir = m->dir;
    m->req.acl = m->acl.v;
    m->req.acl_count = m->acl.n;
    m->plain = r->plain;
    RB_INSERT(evzk__maker_tree, &s->makers, m);
    make(m);
    return m;
}

void evzk__parents_join(struct evzk__core *s, struct evzk__request *r)
{
    const char *path = above(s, r);
    struct evzk__maker *m;

    if (path[0] == '\0') { /* The root is there. */
        evzk__request_answer_rc(s, r, EVZK_OK);
        return;
    }
    if (strcmp(path, s->chroot) == 0 && !s->make_chroot) {
        evzk__request_answer_rc(s, r, EVZK_ERR_NOCHROOT);
        return;
    }
    m = find(s, path);
    if (!m)
        m = start(s, path, r);
    if (!m) {
        evzk__requests_pause(s); /* Or it would be asked again at once. */
        evzk__request_answer_rc(s, r, EVZK_ERR_NOMEM);
        return;
    }
    m->plain = m->plain || r->plain;
    r->state = EVZK__WAITING;
    r->waits_in = &m->waiting;
    TAILQ_INSERT_TAIL(&m->waiting, r, link);
}

void evzk__parents_clear(struct evzk__core *s)
{
    struct evzk__maker *m, *next;

    RB_FOREACH_SAFE(m, evzk__maker_tree, &s->makers, next)
    {
        struct evzk__request *r;

        TAILQ_FOREACH(r, &m->waiting, link) r->state = EVZK__IDLE;
        RB_REMOVE(evzk__maker_tree, &s->makers, m);
        evzk__request_cancel(s, &m->req);
        destroy(m);
    }
}
