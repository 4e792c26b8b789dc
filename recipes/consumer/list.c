/* Listing the queue, and waiting for items.
 *
 *   LISTING --> SCANNING <--> REMOVING
 *   COUNTING --> LISTING                of a plain queue
 *   WAITING
 *
 * LISTING sets two watches, and lists the segments; SCANNING lists what is in
 * them.  REMOVING deletes segments that are empty and sealed.  WAITING hears of
 * puts and of claims that were given back by `signal`, and of consumers that
 * have died by the list of clients.
 *
 * All items of a plain queue are in one list.  COUNTING looks how long the list
 * is, and whether there is one at all, and watches whether the queue is made;
 * LISTING watches the list itself.  Of claims and clients nothing need be
 * known.
 *
 * How it can fail.  A list that is too long would break the connection: so the
 * consumer fails instead.  So it does if another library's items are in a plain
 * queue.  The watches are set before the queue is looked at:
 * so nothing comes unseen.  If they go with the connection, the consumer lists
 * again.  A server may be behind the leader: a sync goes before each look. */
#include <stdio.h>

#include "recipes/consumer/consumer_internal.h"
#include "recipes/parts/queue_foreign.h"

/* The steps of LISTING; and of a plain queue. */
enum { SYNC, SIGNAL, CLIENTS, QUEUE, LOOKS };
enum { PLAIN_QUEUE = 1, PLAIN_LOOKS };

static bool is_plain(const struct evzk_consumer *c)
{
    return evzk__queue_is_plain(c->opt.layout);
}

/* The watches of a plain queue are on its znode, and on its list. */
void evzk__consumer_count(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    c->steps[SYNC] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    c->steps[PLAIN_QUEUE] = (struct evzk__step){.verb = EVZK__STEP_EXISTS,
                                                .name = c->path,
                                                .watch = EVZK__WITH(ON_SIGNAL)};
    evzk__ask(m, c->steps, PLAIN_LOOKS, 0);
}

static int no_queue(struct evzk_consumer *c)
{
    evzk__view_clear(&c->view);
    c->view.absent = c->view.scanned = true;
    return evzk__machine_move(&c->m, IDLE);
}

int evzk__consumer_counted(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (e->reply->first_rc != EVZK_OK && e->reply->first_rc != EVZK_ERR_NONODE)
        return e->reply->first_rc;
    if (!c->has_turn)
        return evzk__machine_move(m, IDLE);
    if (e->reply->rc == EVZK_ERR_NONODE)
        return no_queue(c);
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    if (e->reply->res->stat.children > EVZK_QUEUE_PLAIN_MAX)
        return EVZK_ERR_FOREIGN;
    return evzk__machine_move(m, LISTING);
}

static void list_plain(struct evzk_consumer *c)
{
    c->steps[SYNC] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    c->steps[PLAIN_QUEUE] =
        (struct evzk__step){.verb = EVZK__STEP_CHILDREN,
                            .name = c->path,
                            .watch = EVZK__WITH(ON_CLIENTS)};
    evzk__ask(&c->m, c->steps, PLAIN_LOOKS, EVZK__EACH);
}

void evzk__consumer_list(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    c->error = EVZK_OK;
    evzk__asides_look(&c->asides);
    if (is_plain(c)) {
        list_plain(c);
        return;
    }
    c->steps[SYNC] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    c->steps[SIGNAL] = (struct evzk__step){.verb = EVZK__STEP_EXISTS,
                                           .name = c->signal_path,
                                           .watch = EVZK__WITH(ON_SIGNAL)};
    c->steps[CLIENTS] = (struct evzk__step){.verb = EVZK__STEP_CHILDREN,
                                            .name = "",
                                            .watch = EVZK__WITH(ON_CLIENTS)};
    c->steps[QUEUE] =
        (struct evzk__step){.verb = EVZK__STEP_CHILDREN, .name = c->path};
    evzk__ask(m, c->steps, LOOKS, EVZK__EACH);
}

static int took_plain(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    if (reply->part != PLAIN_QUEUE || reply->rc != EVZK_OK)
        return reply->rc;
    if (evzk__queue_has_foreign(&reply->res->names))
        return EVZK_ERR_FOREIGN;
    return evzk__view_take_plain(&c->view, &reply->res->names, &c->asides)
               ? EVZK_OK
               : EVZK_ERR_NOMEM;
}

static int took_part(struct evzk_consumer *c, const struct evzk__reply *reply)
{
    if (is_plain(c))
        return took_plain(c, reply);
    if (reply->part == SIGNAL && reply->rc == EVZK_ERR_NONODE)
        return EVZK_OK;
    if (reply->part == QUEUE && reply->rc == EVZK_OK)
        return evzk__view_take(&c->view, &reply->res->names) ? EVZK_OK
                                                             : EVZK_ERR_NOMEM;
    return reply->rc;
}

/* One consumer has the turn.  The signal tells the servers' time, and so does
 * the receipt. */
static void tidy(struct evzk_consumer *c)
{
    char own[sizeof EVZK__QUEUE_CLIENTS + EVZK__NAME_MAX];
    struct evzk__tidy_what what = {
        .base = c->base,
        .dir = {EVZK__QUEUE_RECEIPTS, EVZK__QUEUE_CLIENTS},
        .clock = {own, EVZK__QUEUE_SIGNAL}};

    snprintf(own, sizeof own, EVZK__QUEUE_CLIENTS "/%s", c->receipt_name);
    evzk__tidier_may(&c->tidier, evzk__machine_session(&c->m), &what);
}

static int failed(struct evzk_consumer *c)
{
    return c->error == EVZK_ERR_NOMEM ? evzk__machine_again_later(&c->m)
                                      : c->error;
}

int evzk__consumer_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (!evzk__consumer_note(c, e->reply, took_part(c, e->reply)))
        return EVZK_OK;
    if (c->error == EVZK_ERR_NONODE && is_plain(c))
        return evzk__machine_move(m, IDLE); /* Counts again. */
    if (c->error == EVZK_ERR_NONODE) /* Somebody has deleted the directory. */
        return evzk__consumer_renew(c);
    if (c->error != EVZK_OK)
        return failed(c);
    if (c->has_turn)
        tidy(c);
    if (!c->has_turn || c->view.scanned)
        return evzk__machine_move(m, IDLE);
    return evzk__machine_move(m, SCANNING);
}

/* Without memory it waits a while. */
void evzk__consumer_scan(struct evzk__machine *m)
{
    static const struct evzk__step sync[] = {
        {.verb = EVZK__STEP_SYNC, .name = ""}};
    struct evzk_consumer *c = evzk__consumer_of(m);

    c->error = EVZK_OK;
    if (evzk__view_scan(&c->view, c->path)) {
        evzk__ask(m, c->view.steps, c->view.n_order + 1, EVZK__EACH);
        return;
    }
    c->error = EVZK_ERR_NOMEM;
    evzk__machine_pause(m);
    evzk__ask(m, sync, 1, EVZK__EACH);
}

static int scanned_part(struct evzk_consumer *c,
                        const struct evzk__reply *reply)
{
    if (reply->part == SYNC || c->error != EVZK_OK)
        return reply->rc;
    if (reply->rc == EVZK_ERR_NONODE) /* Somebody has deleted it. */
        return EVZK_OK;
    if (reply->rc != EVZK_OK)
        return reply->rc;
    return evzk__view_note(&c->view, reply->part, reply->res, &c->asides)
               ? EVZK_OK
               : EVZK_ERR_NOMEM;
}

static int seen(struct evzk_consumer *c)
{
    bool done = evzk__view_done(&c->view);

    return evzk__machine_move(&c->m, done || !c->has_turn ? IDLE : SCANNING);
}

int evzk__consumer_scanned(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (!evzk__consumer_note(c, e->reply, scanned_part(c, e->reply)))
        return EVZK_OK;
    if (c->error != EVZK_OK)
        return failed(c);
    if (c->view.n_empty > 0 && c->has_turn)
        return evzk__machine_move(m, REMOVING);
    return seen(c);
}

/* The servers delete no segment in which there is something. */
void evzk__consumer_remove(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    c->error = EVZK_OK;
    if (evzk__view_remove(&c->view, c->path)) {
        evzk__ask(m, c->view.steps + 1, c->view.n_order, EVZK__EACH);
        return;
    }
    evzk__machine_move(m, IDLE);
}

/* A segment that cannot be deleted stays. */
int evzk__consumer_removed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type != EVZK__EV_REPLY)
        return evzk__consumer_doubted(c, e);
    if (!e->reply->last)
        return EVZK_OK;
    evzk__view_removed(&c->view);
    return seen(c);
}

void evzk__consumer_wait(struct evzk__machine *m)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (evzk__watch_missing(m, ON_SIGNAL) ||
        (!c->view.absent && evzk__watch_missing(m, ON_CLIENTS))) {
        evzk__view_forget(&c->view);
        evzk__machine_move(m, IDLE);
        return;
    }
    evzk__asides_seen(&c->asides);
    evzk__consumer_set_retry(c);
}

int evzk__consumer_waited(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_consumer *c = evzk__consumer_of(m);

    if (e->type == EVZK__EV_CHANGED || e->type == EVZK__EV_DELETED)
        evzk__view_forget(&c->view);
    else if (e->type != EVZK__EV_USER)
        return evzk__consumer_doubted_idle(c, e);
    return evzk__machine_move(m, IDLE);
}
