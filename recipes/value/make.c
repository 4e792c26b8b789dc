/* The rows of a writer that look at the value, and make it if there is none.
 *
 *   FINDING    reads the znode, and the znode above it
 *   MAKING     makes the znode and the receipt, in one transaction
 *   SETTLING   the answer was lost: was that transaction done?
 *   MAKING_PARENTS
 *
 * How it can fail.  A transaction of unknown outcome may have been done, and
 * somebody may have deleted the znode since: to make it again would do the
 * write twice.  SETTLING looks behind a write that changes nothing: all that
 * the session ever sent has been done by then, or never will be.  The receipt
 * is there: the write was done, whatever became of the look's own write.  Else,
 * if no znode was ever deleted where the value, or its receipt, would have
 * been, neither was made: a znode's stat tells how many of its children were
 * deleted so far.  That is read last, so that it counts for what was read
 * before.  If one was, the outcome stays unknown, and the caller hears so.
 */
#include <string.h>

#include "recipes/value/value_internal.h"

/* A container may go away between the making and our create; not for ever. */
enum { PARENTS_TRIES = 8 };

/* Which step of those of FINDING and SETTLING. */
enum { FIRST, FOUND_ABOVE, FOUND_OWN };
enum { RECEIPT = FIRST + 1, SETTLED_OWN, SETTLED_ABOVE };

/* To the choice of what comes next; or to the end. */
static int go_on(struct evzk__machine *m)
{
    return evzk__machine_move(m, EVZK__VALUE_IDLE);
}

/* A cversion counts each child once as it is made, and once as it is deleted.
 */
static struct evzk__parent parent_of(const struct evzk__reply *reply)
{
    struct evzk__parent p = {.exists = reply->rc == EVZK_OK};

    if (p.exists) {
        p.czxid = reply->res->stat.czxid;
        p.deleted = (uint32_t)reply->res->stat.cversion -
                    (uint32_t)reply->res->stat.children;
    }
    return p;
}

/* ---- FINDING ---- */

void evzk__value_find(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    w->steps[FIRST] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    w->steps[FOUND_ABOVE] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = w->above};
    w->steps[FOUND_OWN] =
        (struct evzk__step){.verb = EVZK__STEP_GET, .name = ""};
    evzk__ask(m, w->steps, 3, EVZK__EACH);
}

static void note_found(struct evzk_value_writer *w,
                       const struct evzk__reply *reply)
{
    const struct evzk__result *res = reply->res;

    w->fresh = true;
    w->absent = reply->rc == EVZK_ERR_NONODE;
    if (w->absent) {
        w->receipt.name = NULL; /* Gone with the znode. */
        w->make.may_stand = false;
        w->known = false;
        return;
    }
    w->known = evzk__writer_has_receipt(w);
    w->stamp = (evzk_value_stamp){res->stat.czxid, res->stat.version};
    w->is_number = evzk__number_parse(res->data, res->len, &w->number);
}

int evzk__value_found(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == FOUND_ABOVE)
        w->above_seen = parent_of(reply);
    if (!reply->last)
        return EVZK_OK;
    /* A step was refused.  If it was the first, the reads behind it prove
     * nothing. */
    if (reply->first_rc == EVZK_ERR_SERVER)
        evzk__write_answer(w, EVZK_ERR_SERVER, 0);
    else if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        evzk__write_answer(w, reply->rc, 0);
    else
        note_found(w, reply);
    return go_on(m);
}

/* ---- MAKING ---- */

static void first_data(struct evzk_value_writer *w, struct evzk__step *step)
{
    const struct evzk__write *op = TAILQ_FIRST(&w->writes);

    step->data = op->data;
    step->len = op->len;
    w->start = 0;
    w->sum = op->delta;
    if (op->kind == EVZK__WRITE_ADD) {
        step->data = w->text;
        step->len = evzk__number_print(w->text, w->sum);
    }
}

static struct evzk__step create_step(const struct evzk_value_writer *w,
                                     const char *name)
{
    return (struct evzk__step){.verb = EVZK__STEP_CREATE,
                               .mode = EVZK__PERSISTENT,
                               .name = name,
                               .acl = w->acl,
                               .acl_count = w->acl_count};
}

void evzk__value_make(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    w->batch = 1;
    if (evzk__make_new_name(&w->make) != EVZK_OK) {
        evzk__machine_finish(m, EVZK_ERR_INTERNAL);
        return;
    }
    w->make.czxid = 0;
    w->make.may_stand = true;
    w->steps[0] = create_step(w, "");
    first_data(w, &w->steps[0]);
    w->steps[1] = create_step(w, w->make.name);
    evzk__ask(m, w->steps, 2, EVZK__COMMIT);
}

static int done(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    evzk__receipt_init(&w->receipt, w->make.name);
    evzk__writes_done(w);
    return go_on(m);
}

/* Nothing was made, and nothing will be. */
static int not_done(struct evzk__machine *m, bool still_absent)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    w->batch = 0;
    w->make.may_stand = false;
    w->fresh = still_absent;
    return go_on(m);
}

int evzk__value_made(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    switch (e->reply->rc) {
    case EVZK_OK:
        evzk__writer_note_done(w, true);
        return done(m);
    case EVZK_ERR_CONNLOSS:
        return evzk__machine_move(m, EVZK__VALUE_SETTLING);
    case EVZK_ERR_NODEEXISTS: /* Another writer was quicker. */
    case EVZK_ERR_NONODE:     /* The znode above is gone. */
        return not_done(m, false);
    case EVZK_ERR_NOMEM: /* Not sent. */
        return m->stopping ? not_done(m, false) : evzk__machine_again_later(m);
    default:
        w->make.may_stand = false;
        evzk__writes_failed(w, e->reply->rc);
        return go_on(m);
    }
}

/* ---- SETTLING ---- */

/* The delete is refused, behind all that was sent before it. */
void evzk__value_settle(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);

    memset(&w->settled, 0, sizeof w->settled);
    w->steps[FIRST] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = w->nobody};
    w->steps[RECEIPT] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = w->make.name};
    w->steps[SETTLED_OWN] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = ""};
    w->steps[SETTLED_ABOVE] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = w->above};
    evzk__ask(m, w->steps, 4, EVZK__EACH);
}

static void note_settled(struct evzk_value_writer *w,
                         const struct evzk__reply *reply)
{
    struct evzk__settled *s = &w->settled;

    if (reply->part == RECEIPT)
        s->receipt = reply->rc == EVZK_OK;
    if (reply->part == SETTLED_OWN)
        s->own = parent_of(reply);
    if (reply->part == SETTLED_ABOVE)
        s->above = parent_of(reply);
    if (reply->part != FIRST && reply->rc != EVZK_OK &&
        reply->rc != EVZK_ERR_NONODE)
        s->refused =
            reply->rc == EVZK_ERR_TOOLARGE ? reply->rc : EVZK_ERR_SERVER;
}

/* There is no receipt.  Has there been none?  The value was there neither, or
 * it is still that one; and then no child of it was ever deleted. */
static bool is_undone(const struct evzk_value_writer *w)
{
    const struct evzk__parent *before = &w->above_seen,
                              *now = &w->settled.above;

    return now->exists && now->czxid == before->czxid &&
           now->deleted == before->deleted && w->settled.own.deleted == 0;
}

int evzk__value_settled(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    const struct evzk__reply *reply = e->reply;

    note_settled(w, reply);
    if (!reply->last)
        return EVZK_OK;
    w->known = false;
    if (w->settled.receipt)
        return done(m);
    if (reply->first_rc == EVZK_ERR_SERVER &&
        evzk__machine_refused(m, reply) == EVZK_OK)
        return EVZK_OK;
    if (reply->first_rc == EVZK_ERR_SERVER ||
        reply->first_rc == EVZK_ERR_TOOLARGE)
        w->settled.refused = reply->first_rc;
    if (w->settled.refused != EVZK_OK) {
        evzk__writes_failed(w, w->settled.refused); /* Nothing is proved. */
        return evzk__machine_move(m, EVZK__VALUE_DISCARDING);
    }
    if (is_undone(w))
        return not_done(m, !w->settled.own.exists);
    w->make.may_stand = false;
    evzk__writes_failed(w, EVZK_ERR_CONNLOSS);
    return go_on(m);
}

/* ---- MAKING_PARENTS ---- */

void evzk__value_make_parents(struct evzk__machine *m)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    struct evzk__create_args args = evzk__default_args(m, NULL);

    args.acl = w->acl;
    args.acl_count = w->acl_count;
    evzk__parents(m, &args);
}

int evzk__value_parents_made(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    struct evzk_value_writer *w = evzk__writer_of(m);
    int rc = e->reply->rc;

    if (rc == EVZK_OK && m->tries++ == PARENTS_TRIES)
        rc = EVZK_ERR_NONODE;
    w->fresh = false;
    if (rc != EVZK_OK)
        evzk__write_answer(w, rc, 0);
    return go_on(m);
}
