/* Sequencers: given out, set on a handle, checked. */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/lock/lock_internal.h"

int evzk_chubby_get_sequencer(const evzk_chubby *h, char *buf, size_t size)
{
    struct evzk__call call = evzk__chubby_call(h, __func__);

    if (evzk__broken(&call, h, "handle", EVZK__NOT_NULL) ||
        evzk__broken(&call, buf, "buf", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&h->m))
        return EVZK_ERR_FORKED;
    if (!evzk_chubby_held(h))
        return EVZK_ERR_STATE;
    return evzk__broken(&call,
                        evzk__sequencer_print(
                            buf, size, evzk__machine_path(&h->m),
                            evzk_lock_node(h->lock->lock),
                            evzk_lock_token(h->lock->lock), h->lock->shared),
                        "size", "must have room for the sequencer")
               ? EVZK_ERR_INVAL
               : EVZK_OK;
}

/* ---- Set on a handle. ---- */

void evzk__chubby_drop_sequencer(struct evzk_chubby *h)
{
    evzk__node_watch_free(h->sequencer_watch);
    h->sequencer_watch = NULL;
    evzk__sequencer_clear(&h->sequencer);
    h->sequenced = SEQ_NONE;
}

/* Operations called behind a SetSequencer were to be done under it. */
static void refuse_behind(struct evzk__chubby_op *op)
{
    while ((op = TAILQ_NEXT(op, link)) != NULL)
        op->refused = true;
}

/* The first answer. */
static void was_asked(struct evzk_chubby *h, int rc)
{
    struct evzk__chubby_op *op = evzk__chubby_op_find(h, OP_SET_SEQUENCER);

    h->sequenced = SEQ_SET;
    if (rc != EVZK_OK || !op) /* Or the operation has ended. */
        evzk__chubby_drop_sequencer(h);
    if (op && rc != EVZK_OK)
        refuse_behind(op);
    if (op)
        evzk__chubby_op_answer(op, rc, NULL);
}

static void on_sequencer(void *arg, int rc, const struct evzk__result *res)
{
    struct evzk_chubby *h = arg;

    if (rc == EVZK_ERR_NONODE ||
        (rc == EVZK_OK && res->stat.czxid != h->sequencer.czxid))
        rc = EVZK_ERR_NODEGONE;
    if (h->sequenced == SEQ_ASKED)
        was_asked(h, rc);
    else if (rc != EVZK_OK)
        evzk__chubby_spoil(h, rc == EVZK_ERR_NODEGONE ? EVZK_ERR_STATE : rc);
}

/* The leader has found it valid, or not; from now on its znode is watched. */
static void on_set_checked(void *arg, int rc, const struct evzk__sequencer *q)
{
    struct evzk__chubby_op *op = arg;
    struct evzk_chubby *h = op->h;

    (void)q;
    if (rc == EVZK_OK)
        rc = evzk__watch_node(evzk__machine_session(&h->m), h->sequencer.dir,
                              h->sequencer.node, on_sequencer, h,
                              &h->sequencer_watch);
    if (rc != EVZK_OK)
        was_asked(h, rc);
}

void evzk__chubby_op_set_sequencer(struct evzk__chubby_op *op)
{
    struct evzk_chubby *h = op->h;
    struct evzk__sequencer copy;
    int rc = evzk__sequencer_copy(&copy, &op->sequencer);

    op->begun = true;
    h->sequencer = op->sequencer;
    op->sequencer = (struct evzk__sequencer){0};
    h->sequenced = SEQ_ASKED;
    if (rc == EVZK_OK)
        rc = evzk__check_start(evzk__machine_session(&h->m), &copy,
                               on_set_checked, op, &op->check);
    if (rc != EVZK_OK)
        was_asked(h, rc);
}

/* ---- Checked at the leader. ---- */

/* Of the lock of the handle's own file. */
static bool is_own(const struct evzk_chubby *h, const struct evzk__sequencer *q)
{
    size_t n = strlen(h->path);

    return strncmp(q->dir, h->path, n) == 0 &&
           strcmp(q->dir + n, EVZK__CHUBBY_SIDE) == 0;
}

/* The leader has found it valid.  The oldest of those that are known goes.
 * Without memory nothing is learned, and the leader is asked again. */
static void learn(struct evzk_chubby *h, const struct evzk__sequencer *q)
{
    struct evzk__known_one *k;

    if (!q->shared && h->newest < q->czxid)
        h->newest = q->czxid;
    if (!h->known)
        h->known = evzk__zalloc(sizeof *h->known);
    if (!h->known)
        return;
    k = &h->known->v[h->known->n++ % EVZK__CHUBBY_KNOWN];
    strcpy(k->node, q->node);
    k->czxid = q->czxid;
    k->seen = false;
}

static void on_checked(void *arg, int rc, const struct evzk__sequencer *q)
{
    struct evzk__chubby_op *op = arg;

    if (rc == EVZK_OK && is_own(op->h, q))
        learn(op->h, q);
    evzk__chubby_op_answer(op, rc, NULL);
}

void evzk__chubby_op_check_sequencer(struct evzk__chubby_op *op)
{
    int rc;

    op->begun = true;
    rc = evzk__check_start(evzk__machine_session(&op->h->m), &op->sequencer,
                           on_checked, op, &op->check);
    if (rc != EVZK_OK)
        evzk__chubby_op_answer(op, rc, NULL);
}

/* ---- Checked here. ---- */

/* Is no contender in the queue, as it was heard of, in the way of this one? */
static bool is_free(const struct evzk_chubby *h, const char *node)
{
    struct evzk__contender own, other;
    evzk_cache_entry e;

    if (!evzk__contender_parse(node, evzk__lock_marks, &own))
        return false;
    for (bool ok = evzk_cache_first_child(h->queue, "", &e); ok;
         ok = evzk_cache_next_child(h->queue, &e)) {
        if (evzk__contender_parse(e.name, evzk__lock_marks, &other) &&
            evzk__contender_before(&other, &own) &&
            evzk__contender_bars(&other, &own))
            return false;
    }
    return true;
}

/* A sequencer that is known, and names the same znode; NULL: none does. */
static struct evzk__known_one *find_known(const struct evzk_chubby *h,
                                          const char *node)
{
    for (unsigned i = 0; h->known && i < EVZK__CHUBBY_KNOWN; i++) {
        if (strcmp(h->known->v[i].node, node) == 0)
            return &h->known->v[i];
    }
    return NULL;
}

/* The copy may be behind the leader: a znode that the copy has not had yet may
 * be one that it has not heard of, and a holder before may be gone. */
static int check_here(const struct evzk_chubby *h,
                      const struct evzk__sequencer *q)
{
    struct evzk__known_one *known = find_known(h, q->node);
    evzk_cache_entry e;

    if (q->czxid < h->newest)
        return EVZK_ERR_NODEGONE;
    if (!known || !evzk_cache_ready(h->queue))
        return EVZK_ERR_STATE;
    if (known->czxid != q->czxid)
        return EVZK_ERR_NODEGONE;
    if (evzk_cache_get(h->queue, q->node, &e) != EVZK_OK)
        return known->seen ? EVZK_ERR_NODEGONE : EVZK_ERR_STATE;
    known->seen = true;
    return is_free(h, q->node) ? EVZK_OK : EVZK_ERR_STATE;
}

static int check_seen(struct evzk_chubby *h, const struct evzk__call *call,
                      const struct evzk__sequencer *q)
{
    if (evzk__broken(call, is_own(h, q), "sequencer",
                     "must be of the handle's own file"))
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&h->m))
        return EVZK_ERR_FORKED;
    return h->queue ? check_here(h, q) : EVZK_ERR_STATE;
}

int evzk_chubby_check_seen(evzk_chubby *h, const char *text)
{
    struct evzk__call call = evzk__chubby_call(h, __func__);
    struct evzk__sequencer q;
    int rc;

    if (evzk__broken(&call, h, "handle", EVZK__NOT_NULL) ||
        evzk__broken(&call, text, "sequencer", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    rc = evzk__sequencer_parse(&q, text);
    if (evzk__broken(&call, rc != EVZK_ERR_INVAL, "sequencer",
                     "must be what evzk_chubby_get_sequencer() writes"))
        return EVZK_ERR_INVAL;
    if (rc == EVZK_OK)
        rc = check_seen(h, &call, &q);
    evzk__sequencer_clear(&q);
    return rc;
}
