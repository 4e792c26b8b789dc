/* The rows of a handle that make its file.
 *
 *   CREATING   makes the anchor and the file, in one transaction
 *   MAKING_DIR the directory of the anchor, and what is missing above the file
 *   RESOLVING  the answer was lost: does the anchor exist?
 *
 * How it can fail.  A transaction of unknown outcome may have been done.
 * RESOLVING looks behind a write that changes nothing: all that the session
 * ever sent has been done by then, or never will be.  An anchor that is seen is
 * there, also where that write was refused.  Where nothing is seen, and the
 * servers refuse to settle that, the open fails, and the two may stand: a file
 * belongs to all who open it, and an anchor without its file protects nothing,
 * so neither is left to the session's list of left-overs.  An anchor that was
 * made and deleted again by another process counts as not made: then the file
 * is made a second time, which is as if the open had come later.
 */
#include <string.h>

#include "lib/base/name.h"
#include "recipes/chubby/chubby_internal.h"

/* The steps.  A file that exists is found before a directory that is missing.
 */
enum { FILE_ITSELF, ANCHOR };

static int follow(struct evzk__machine *m)
{
    return evzk__machine_move(m, EVZK__CHUBBY_FOLLOWING);
}

static void fill(struct evzk_chubby *h)
{
    struct evzk__create_args session = evzk__default_args(&h->m, NULL);
    struct evzk__step create = {
        .verb = EVZK__STEP_CREATE,
        .mode = h->ephemeral ? EVZK__EPHEMERAL : EVZK__PERSISTENT,
        .acl = h->acl.v ? h->acl.v : session.acl,
        .acl_count = h->acl.v ? h->acl.n : session.acl_count};

    h->step[ANCHOR] = h->step[FILE_ITSELF] = create;
    h->step[ANCHOR].name = h->anchor;
    h->step[FILE_ITSELF].name = h->path;
    h->step[FILE_ITSELF].data = h->data;
    h->step[FILE_ITSELF].len = h->data_len;
}

void evzk__chubby_create(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    if (h->create == EVZK_CHUBBY_EXISTING) {
        follow(m);
        return;
    }
    if (evzk__guid(h->anchor) != EVZK_OK || evzk__guid(h->nobody) != EVZK_OK) {
        evzk__machine_finish(m, EVZK_ERR_INTERNAL);
        return;
    }
    strcat(h->anchor, EVZK__CHUBBY_ANCHOR);
    fill(h);
    evzk__ask(m, h->step, 2, EVZK__COMMIT | EVZK__STAMP);
}

static int made(struct evzk_chubby *h, int64_t czxid)
{
    h->created = true;
    h->instance = czxid;
    h->anchored = ANCHOR_KNOWN;
    return follow(&h->m);
}

int evzk__chubby_created_it(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_chubby *h = evzk__chubby_of(m);
    int rc = e->reply->rc;

    if (rc == EVZK_OK)
        return made(h, e->reply->res->stat.czxid);
    if (rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, EVZK__CHUBBY_RESOLVING);
    if (rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    if (rc == EVZK_ERR_NONODE && h->tries++ < EVZK__CHUBBY_TRIES)
        return evzk__machine_move(m, EVZK__CHUBBY_MAKING_DIR);
    if (rc == EVZK_ERR_NODEEXISTS && h->create == EVZK_CHUBBY_MAY_CREATE)
        return follow(m);
    return rc;
}

void evzk__chubby_make_dir(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);
    struct evzk__create_args session = evzk__default_args(m, NULL);

    evzk__own_dir(m, h->acl.v ? h->acl.v : session.acl,
                  h->acl.v ? h->acl.n : session.acl_count);
}

int evzk__chubby_dir_made(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc != EVZK_OK)
        return rc;
    return evzk__machine_move(m, EVZK__CHUBBY_CREATING);
}

void evzk__chubby_resolve(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    h->step[0] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = h->nobody};
    h->step[1] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = h->anchor};
    evzk__ask(m, h->step, 2, 0);
}

int evzk__chubby_resolved(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc == EVZK_OK)
        return made(evzk__chubby_of(m), e->reply->res->stat.czxid);
    if (rc != EVZK_ERR_NONODE)
        return rc;
    if (e->reply->first_rc == EVZK_ERR_SERVER)
        return evzk__machine_refused(m, e->reply);
    return evzk__machine_move(m, EVZK__CHUBBY_CREATING);
}
