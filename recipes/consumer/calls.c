/* The calls of evzk/consumer.h. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/consumer/consumer_internal.h"
#include "recipes/kinds.h"

enum {
    STEPS_EACH = 4, /* The most for an item. */
    STEPS_MORE = 4  /* The receipt, the guard, the signal; or LISTING's. */
};

const char *evzk_consumer_event_name(evzk_consumer_event event)
{
    switch (event) {
    case EVZK_CONSUMER_ITEM:
        return "ITEM";
    case EVZK_CONSUMER_TAKEN:
        return "TAKEN";
    case EVZK_CONSUMER_FINISHED:
        return "FINISHED";
    case EVZK_CONSUMER_GIVEN_BACK:
        return "GIVEN_BACK";
    case EVZK_CONSUMER_LOST:
        return "LOST";
    case EVZK_CONSUMER_DEAD_LETTER:
        return "DEAD_LETTER";
    case EVZK_CONSUMER_CLOSED:
        return "CLOSED";
    case EVZK_CONSUMER_FAILED:
        return "FAILED";
    case EVZK_CONSUMER_SET_ASIDE:
        return "SET_ASIDE";
    }
    return "?";
}

bool evzk_consumer_event_is_final(evzk_consumer_event event)
{
    return event == EVZK_CONSUMER_CLOSED || event == EVZK_CONSUMER_FAILED;
}

/* Arguments. */

static bool broken_modes(const struct evzk__call *call,
                         const evzk_consumer_options *opt)
{
    bool claimed = opt->mode == EVZK_CONSUMER_CLAIMED;

    return evzk__broken(call, opt->layout <= EVZK_QUEUE_PLAIN_PRIORITY,
                        "layout", "must be an evzk_queue_layout") ||
           evzk__broken(call, opt->mode <= EVZK_CONSUMER_CLAIMED, "mode",
                        "must be an evzk_consumer_mode") ||
           evzk__broken(call, !claimed || !evzk__queue_is_plain(opt->layout),
                        "mode", "must be at most once with a plain layout") ||
           evzk__broken(call, opt->prefetch <= EVZK_CONSUMER_PREFETCH_MAX,
                        "prefetch",
                        "must be at most EVZK_CONSUMER_PREFETCH_MAX") ||
           evzk__broken(call, claimed || opt->prefetch == 0, "prefetch",
                        "must be 0 without claims") ||
           evzk__broken(call, claimed || opt->max_deliveries == 0,
                        "max_deliveries", "must be 0 without claims");
}

static bool broken_options(const struct evzk__call *call,
                           const evzk_consumer_options *opt)
{
    return broken_modes(call, opt) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

static bool broken_path(const struct evzk__call *call, const evzk_session *s,
                        const char *path)
{
    size_t most = EVZK__PATH_MAX - EVZK__QUEUE_NAME - EVZK__NAME_MAX;

    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken(call, evzk__path_bytes(s, path) <= most, "path",
                        "must leave room for the queue's own names");
}

/* The object. */

static char *side(const char *path, evzk_queue_layout layout, const char *name)
{
    /* With a GUID: of dead letters (bury.c). */
    char *to =
        evzk__zalloc(strlen(path) + EVZK__QUEUE_NAME + EVZK__GUID_LEN + 1);

    return to ? evzk__queue_side(to, path, layout, name) : NULL;
}

static int take_names(struct evzk_consumer *c, evzk_session *s,
                      const char *path)
{
    size_t room = strlen(path) + EVZK__QUEUE_NAME;

    c->path = evzk__strdup(path);
    c->base = evzk__queue_is_plain(c->opt.layout)
                  ? evzk__concat(path, EVZK__QUEUE_BESIDE)
                  : evzk__strdup(path);
    c->turn_path = side(path, c->opt.layout, EVZK__QUEUE_TURN);
    c->signal_path = side(path, c->opt.layout, EVZK__QUEUE_SIGNAL);
    c->dead_path = side(path, c->opt.layout, EVZK__QUEUE_DEAD);
    c->letter_path =
        side(path, c->opt.layout, EVZK__QUEUE_DEAD "/" EVZK__QUEUE_ITEM);
    c->turn_node = evzk__zalloc(room + EVZK__NAME_MAX);
    c->guard = evzk__zalloc(room + EVZK__NAME_MAX);
    c->names = evzk__zalloc(EVZK__BATCH_ITEMS * room);
    c->steps = evzk__zalloc((STEPS_EACH * EVZK__BATCH_ITEMS + STEPS_MORE) *
                            sizeof *c->steps);
    c->again = evzk__session_timer(s, evzk__turn_again, c);
    c->retry = evzk__session_timer(s, evzk__turn_again, c);
    if (!c->path || !c->base || !c->turn_path || !c->signal_path ||
        !c->dead_path || !c->letter_path || !c->turn_node || !c->guard ||
        !c->names || !c->steps || !c->again || !c->retry)
        return EVZK_ERR_NOMEM;
    evzk__consumer_name_receipt(c);
    evzk__consumer_name_alive(c);
    return EVZK_OK;
}

static int take_options(struct evzk_consumer *c,
                        const evzk_consumer_options *opt)
{
    c->opt = *opt;
    c->opt.acl = NULL;
    TAILQ_INIT(&c->batch);
    TAILQ_INIT(&c->held);
    TAILQ_INIT(&c->finishing);
    TAILQ_INIT(&c->returning);
    TAILQ_INIT(&c->doubted);
    TAILQ_INIT(&c->stuck);
    if (evzk__guid(c->guid) != EVZK_OK)
        return EVZK_ERR_INTERNAL;
    return evzk__acl_copy(&c->acl, opt->acl, opt->acl_count);
}

static int begin(struct evzk_consumer *c, evzk_session *s, const char *path)
{
    char *clients = side(path, c->opt.layout, EVZK__QUEUE_CLIENTS);
    int rc = clients ? take_names(c, s, path) : EVZK_ERR_NOMEM;

    if (rc == EVZK_OK)
        rc = evzk__machine_init(&c->m, s, &evzk__consumer_kind, clients, 0);
    evzk__free(clients);
    if (rc == EVZK_OK)
        c->batch_items = evzk__consumer_batch_items(c, s);
    return rc;
}

int evzk_consumer_start(evzk_session *s, const char *path,
                        const evzk_consumer_options *opt, evzk_consumer_cb *cb,
                        void *arg, evzk_consumer **out)
{
    static const evzk_consumer_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_consumer *c;
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        broken_path(&call, s, path) || broken_options(&call, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    c = evzk__zalloc(sizeof *c);
    if (!c)
        return EVZK_ERR_NOMEM;
    c->cb = cb;
    c->arg = arg;
    rc = take_options(c, opt);
    if (rc == EVZK_OK)
        rc = begin(c, s, path);
    if (rc == EVZK_OK)
        *out = c;
    else
        evzk__consumer_destroy(&c->m);
    return rc;
}

/* Why a call is refused now, or EVZK_OK. */
static int state_of(const struct evzk_consumer *c)
{
    if (evzk__machine_in_child(&c->m))
        return EVZK_ERR_FORKED;
    return c->m.place.ended || c->m.stopping ? EVZK_ERR_STATE : EVZK_OK;
}

static struct evzk__call call_of(const struct evzk_consumer *c,
                                 const char *function)
{
    return evzk__call_of(c ? evzk__machine_session(&c->m) : NULL, function);
}

int evzk_consumer_take(evzk_consumer *c, uint32_t max, uint32_t timeout_ms)
{
    struct evzk__call call = call_of(c, __func__);
    int rc;

    if (evzk__broken(&call, c, "consumer", EVZK__NOT_NULL) ||
        evzk__broken(&call, max > 0 && max <= EVZK_CONSUMER_PREFETCH_MAX, "max",
                     "must be 1 to EVZK_CONSUMER_PREFETCH_MAX"))
        return EVZK_ERR_INVAL;
    rc = state_of(c);
    if (rc != EVZK_OK)
        return rc;
    if (c->take.on || c->opt.prefetch > 0)
        return EVZK_ERR_STATE;
    c->take = (struct evzk__take){.on = true, .max = max};
    evzk__machine_set_deadline(&c->m, timeout_ms);
    evzk__machine_ask(&c->m);
    return EVZK_OK;
}

/* TAKEN is told as at the end of the take's time. */
int evzk_consumer_cancel(evzk_consumer *c)
{
    int rc = c ? state_of(c) : EVZK_ERR_INVAL;

    if (rc != EVZK_OK)
        return rc;
    if (!c->take.on || c->take.rc != EVZK_OK)
        return EVZK_ERR_STATE;
    c->take.rc = EVZK_ERR_CANCELED;
    evzk__machine_set_deadline(&c->m, 1);
    return EVZK_OK;
}

static int end_item(struct evzk_consumer *c, const char *function,
                    evzk_item *item, enum evzk__item_state state)
{
    struct evzk__call call = call_of(c, function);
    struct evzk__item *it = evzk__item_of(item);
    int rc;

    if (evzk__broken(&call, c, "consumer", EVZK__NOT_NULL) ||
        evzk__broken(&call, item, "item", EVZK__NOT_NULL) ||
        evzk__broken(&call, it->of == c, "item",
                     "must be an item of this consumer"))
        return EVZK_ERR_INVAL;
    rc = state_of(c);
    if (rc != EVZK_OK)
        return rc;
    if (it->state != EVZK__ITEM_HELD)
        return EVZK_ERR_STATE;
    evzk__item_move(c, it, state);
    evzk__machine_ask(&c->m);
    return EVZK_OK;
}

int evzk_consumer_finish(evzk_consumer *c, evzk_item *item)
{
    return end_item(c, __func__, item, EVZK__ITEM_FINISHING);
}

int evzk_consumer_give_back(evzk_consumer *c, evzk_item *item)
{
    return end_item(c, __func__, item, EVZK__ITEM_RETURNING);
}

bool evzk_consumer_holds(const evzk_consumer *c, const evzk_item *item)
{
    const struct evzk__item *it = (const struct evzk__item *)(const void *)item;

    return c && it && it->of == c && it->state == EVZK__ITEM_HELD &&
           evzk__machine_sure(&c->m);
}

uint32_t evzk_consumer_lease_ms(const evzk_consumer *c)
{
    return c && c->n_held > 0 && evzk__machine_sure(&c->m)
               ? evzk_session_lease_ms(evzk__machine_session(&c->m))
               : 0;
}

size_t evzk_consumer_held(const evzk_consumer *c) { return c ? c->n_held : 0; }

int evzk_consumer_close(evzk_consumer *c)
{
    int rc = c ? state_of(c) : EVZK_ERR_INVAL;

    if (rc == EVZK_OK)
        evzk__machine_stop(&c->m, EVZK_OK);
    return rc;
}

void evzk_consumer_free(evzk_consumer *c)
{
    if (c) {
        c->cb = NULL;
        evzk__machine_let_go(&c->m);
    }
}

const char *evzk_consumer_state(const evzk_consumer *c)
{
    return c ? evzk__machine_state(&c->m) : "";
}
