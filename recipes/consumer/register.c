/* What a consumer makes before it works: its receipt, and the znode of its
 * session.
 *
 * How it can fail.  Both have names that nobody else has, and that are used for
 * one receipt, and for one session: a create whose answer was lost is sent
 * again, and a znode that exists is its own. */
#include "recipes/consumer/consumer_internal.h"

enum { DIR_TRIES = 8 };

static struct evzk__step *create(struct evzk_consumer *c, const char *name)
{
    struct evzk__step *step = evzk__change_add(c, EVZK__STEP_CREATE, name);

    evzk__consumer_give_acl(c, step);
    return step;
}

void evzk__consumer_create(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    c->n_steps = 0;
    create(c, c->receipt_name);
    evzk__ask(m, c->steps, c->n_steps, 0);
}

static int made_receipt(struct evzk_consumer *c)
{
    c->m.tries = 0;
    evzk__receipt_init(&c->receipt, c->receipt_name);
    return evzk__machine_move(&c->m, c->m.stopping ? CLOSING : REGISTERING);
}

int evzk__consumer_created(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    /* A create that is stopped before it was sent has no answer. */
    c->may_stand = e->reply->rc == EVZK_OK || e->reply->rc == EVZK_ERR_CONNLOSS;
    switch (e->reply->rc) {
    case EVZK_OK:
        return made_receipt(c);
    case EVZK_ERR_CONNLOSS:
        return evzk__machine_move(m, RENEWING);
    case EVZK_ERR_NONODE:
        return m->stopping ? evzk__machine_finish(m, m->rc)
                           : evzk__machine_move(m, MAKING_DIR);
    case EVZK_ERR_NOMEM: /* Not sent. */
        return m->stopping ? evzk__machine_finish(m, m->rc)
                           : evzk__machine_again_later(m);
    case EVZK_ERR_QUOTA:
        return evzk__consumer_full(c, RENEWING);
    default:
        return e->reply->rc;
    }
}

void evzk__consumer_make_dir(struct evzk__machine *m)
{
    struct evzk__step acl;

    evzk__consumer_give_acl(evzk__consumer_of(m), &acl);
    evzk__own_dir(m, acl.acl, acl.acl_count);
}

int evzk__consumer_dir_made(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(evzk__consumer_of(m), e);
    if (e->reply->rc == EVZK_ERR_QUOTA)
        return evzk__consumer_full(evzk__consumer_of(m), RENEWING);
    return e->reply->rc != EVZK_OK ? e->reply->rc
                                   : evzk__machine_move(m, RENEWING);
}

void evzk__consumer_replace(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    c->n_steps = 0;
    c->may_stand = true;
    create(c, c->receipt_name);
    if (c->old_receipt[0])
        evzk__change_add(c, EVZK__STEP_DELETE, c->old_receipt);
    evzk__ask(m, c->steps, c->n_steps, EVZK__EACH);
}

int evzk__consumer_replaced(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);
    const struct evzk__reply *reply = e->reply;

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (reply->part == 0)
        c->error = reply->rc;
    if (!reply->last)
        return EVZK_OK;
    if (c->error == EVZK_OK || c->error == EVZK_ERR_NODEEXISTS)
        return made_receipt(c);
    if (c->error == EVZK_ERR_QUOTA)
        return evzk__consumer_full(c, RENEWING);
    if (c->error != EVZK_ERR_NONODE || m->tries++ == DIR_TRIES)
        return c->error;
    return evzk__machine_move(m, MAKING_DIR);
}

void evzk__consumer_enroll(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    c->n_steps = 0;
    create(c, c->alive)->mode = EVZK__EPHEMERAL;
    evzk__ask(m, c->steps, c->n_steps, 0);
}

int evzk__consumer_enrolled(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    switch (e->reply->rc) {
    case EVZK_OK:
    case EVZK_ERR_NODEEXISTS:
        return evzk__consumer_go_on(c);
    case EVZK_ERR_NONODE: /* Somebody has deleted the directory. */
        return evzk__consumer_renew(c);
    case EVZK_ERR_QUOTA:
        return evzk__consumer_full(c, REGISTERING);
    default:
        c->outlaw = m->stopping;
        return evzk__machine_give_up(m, e->reply->rc, CLOSING);
    }
}
