/* What the processes of a queue's scenes do: they take items, work on each for
 * a while, finish it or give it back, and close when all is done.  Items are
 * put straight into the tree, as a producer would leave them there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/name.h"
#include "owes.h"
#include "recipes/consumer/consumer_internal.h"
#include "scene_consumer.h"
#include "scene_setup.h"

enum {
    AGAIN_US = 20 * 1000,
    ASIDE_US = 400 * 1000, /* A bad item is tried again then. */
    LINGER_US = 10 * 1000,
    LAST_US = 10 * 1000 * 1000, /* Then all close. */
    DRAINED_US = 50 * 1000,
    PATIENCE = 400
};

static const struct consumer_plan *plan_of(int k)
{
    return &queue.own->consumer[k];
}

static intptr_t pair(int k, int i) { return k * ITEMS + i; }

/* The ends of processes. */

static bool is_busy(int proc)
{
    for (int k = 0; k < CONSUMERS; k++) {
        if (plan_of(k)->on && plan_of(k)->proc == proc &&
            (queue.p[k].c || queue.p[k].planned))
            return true;
    }
    return false;
}

/* The answer to a removal was lost, and it was not asked for again yet. */
static bool is_to_be_asked(const struct evzk_consumer *c)
{
    return c->m.state == TAKING && c->receipt.sends > 1 &&
           c->m.place.req.state != EVZK__SENT;
}

/* What a removal did in the session before is asked once, when the session is
 * there.  Servers that refuse writes are asked again and again, and a session
 * that is being closed asks nothing. */
static bool is_unsaid(const struct evzk_consumer *c, int proc)
{
    if (c->change != EVZK__TAKE)
        return false;
    if (c->m.state == TAKING)
        return ens_refused(proc);
    return (c->m.state == SETTLING || c->m.state == WITHDRAWING) &&
           (c->m.place.req.state != EVZK__SENT || ens_refused(proc));
}

static bool is_unasked(int proc)
{
    for (int k = 0; k < CONSUMERS; k++) {
        const struct evzk_consumer *c = queue.p[k].c;

        if (c && plan_of(k)->proc == proc &&
            (is_to_be_asked(c) || is_unsaid(c, proc)))
            return true;
    }
    return false;
}

static void close_early(int proc)
{
    queue.early[proc] = true;
    queue.unsaid[proc] = is_unasked(proc);
    process_close(proc);
}

static void close_idle(intptr_t arg)
{
    int proc = (int)arg;
    const struct process *p = process_of(proc);

    if (p->closing)
        return;
    if (is_busy(proc) ||
        (p->s && !process_is_idle(p) && queue.patience[proc]++ < PATIENCE)) {
        scene_timer_set(LINGER_US, proc, close_idle, proc);
        return;
    }
    if (p->s && !process_is_idle(p))
        close_early(proc);
    else
        process_close(proc);
}

static void maybe_close(int proc)
{
    if (queue.idle[proc])
        return;
    queue.idle[proc] = true;
    scene_timer_set(LINGER_US, proc, close_idle, proc);
}

/* The calls. */

static void free_consumer(int k)
{
    struct consumer_slot *p = &queue.p[k];
    evzk_consumer *c = p->c;

    if (!p->over)
        queue.freed[consumer_proc(k)] = true;
    p->c = NULL;
    p->taking = false;
    memset(p->held, 0, sizeof p->held);
    process_call_begins(consumer_proc(k));
    evzk_consumer_free(c);
    process_call_ends(consumer_proc(k));
    maybe_close(consumer_proc(k));
}

static void close_consumer(int k)
{
    struct consumer_slot *p = &queue.p[k];
    int rc;

    process_call_begins(consumer_proc(k));
    rc = evzk_consumer_close(p->c);
    process_call_ends(consumer_proc(k));
    sim_say("consumer %d is closed: %s", k, evzk_errname(rc));
    p->closing = p->closing || rc == EVZK_OK;
}

static void take(int k)
{
    struct consumer_slot *p = &queue.p[k];
    int rc;

    process_call_begins(consumer_proc(k));
    rc = evzk_consumer_take(p->c, plan_of(k)->max ? plan_of(k)->max : 1,
                            plan_of(k)->timeout_ms);
    process_call_ends(consumer_proc(k));
    sim_say("consumer %d takes: %s", k, evzk_errname(rc));
    if (rc != EVZK_OK) {
        if (rc != EVZK_ERR_STATE)
            sim_violation("consumer %d: a take gave %s", k, evzk_errname(rc));
        queue.refused[k] = !p->closing;
        return;
    }
    p->taking = true;
    p->got = p->canceled = false;
    p->begun = sim_now();
    p->takes++;
}

static bool holds_any(int k)
{
    for (int i = 0; i < ITEMS; i++) {
        if (queue.p[k].held[i])
            return true;
    }
    return false;
}

/* After the last take, and the last item. */
static void maybe_end(int k)
{
    struct consumer_slot *p = &queue.p[k];

    if (!p->c || p->closing || p->taking || holds_any(k) ||
        plan_of(k)->close_us || plan_of(k)->prefetch)
        return;
    if (p->takes < (plan_of(k)->takes ? plan_of(k)->takes : 1))
        take(k);
    else
        close_consumer(k);
}

/* No other consumer takes it. */
static void offer_to_others(int k, evzk_item *item)
{
    for (int j = 0; j < CONSUMERS; j++) {
        int before, rcs[2];
        evzk_consumer *c = queue.p[j].c;

        if (j == k || !c)
            continue;
        before = sim_enter(consumer_proc(j));
        rcs[0] = evzk_consumer_finish(c, item);
        rcs[1] = evzk_consumer_give_back(c, item);
        if (rcs[0] != EVZK_ERR_INVAL || rcs[1] != EVZK_ERR_INVAL ||
            evzk_consumer_holds(c, item))
            sim_violation("consumer %d takes an item of consumer %d", j, k);
        sim_leave(before);
    }
}

static bool end_item(int k, int i, bool give)
{
    struct consumer_slot *p = &queue.p[k];
    evzk_item *item = p->held[i];
    int rc;

    offer_to_others(k, item);
    process_call_begins(consumer_proc(k));
    rc = give ? evzk_consumer_give_back(p->c, item)
              : evzk_consumer_finish(p->c, item);
    process_call_ends(consumer_proc(k));
    sim_say("consumer %d: item %d is to be %s: %s", k, i,
            give ? "given back" : "finished", evzk_errname(rc));
    if (rc != EVZK_OK)
        return false;
    p->give[i] = p->give[i] || give;
    p->finish[i] = p->finish[i] || !give;
    queue.t[i].finish_asked += !give;
    return true;
}

static void work_done(intptr_t arg)
{
    int k = (int)arg / ITEMS, i = (int)arg % ITEMS;
    struct consumer_slot *p = &queue.p[k];
    bool gives = plan_of(k)->gives_back == i + 1 && !p->gave;

    if (!p->c || !p->held[i])
        return;
    p->gave = p->gave || gives;
    end_item(k, i, gives || plan_of(k)->always_gives_back);
}

/* Events. */

/* By its data; or by its number, where a fault has written that. */
static int number_of(const evzk_item *item)
{
    int i = item->len == 1 ? *(const char *)item->data - 'a' : -1;

    if (i >= 0 && i < ITEMS)
        return i;
    i = consumer_item_of(item);
    if (i < 0 || !fault_said(item_path(i), item->data, item->len))
        sim_violation("an item with other data");
    return i < 0 ? 0 : i;
}

/* An item of another library, without the frame that tells it. */
static bool is_others(const evzk_item *item)
{
    return queue.foreign && item->number == 0 &&
           fault_said(queue_path("queue-0000000000"), item->data, item->len);
}

static void on_item(int k, evzk_item *item)
{
    struct consumer_slot *p = &queue.p[k];
    int i;

    p->got = true;
    if (is_others(item))
        return;
    i = number_of(item);
    rules_item(k, item, i);
    if (!plan_of(k)->claimed)
        return;
    item->app = (void *)(intptr_t)(i + 1);
    p->held[i] = item;
    p->give[i] = p->finish[i] = false;
    p->session_of[i] = process_of(consumer_proc(k))
                           ->ids[process_of(consumer_proc(k))->n_ids - 1];
    scene_timer_set(plan_of(k)->work_us ? plan_of(k)->work_us : 5000,
                    consumer_proc(k), work_done, pair(k, i));
}

static void on_item_end(int k, evzk_consumer_event event, int rc,
                        evzk_item *item)
{
    struct consumer_slot *p = &queue.p[k];
    int i = (int)(intptr_t)item->app - 1;

    /* An operator has deleted the claim, and the item came once more. */
    if (i >= 0 && p->held[i] != item && operator_deleted_any())
        return;
    if (i < 0 || p->held[i] != item) {
        sim_violation("consumer %d: %s of an item that it has not", k,
                      evzk_consumer_event_name(event));
        return;
    }
    rules_ended(k, i, event, rc);
    p->held[i] = NULL;
    scene_timer_cancel(work_done, pair(k, i));
    if (event == EVZK_CONSUMER_LOST && rc == EVZK_ERR_CLOSED)
        queue.early[consumer_proc(k)] = true;
}

static void on_event(evzk_consumer *c, evzk_consumer_event event, int rc,
                     evzk_item *item, void *arg)
{
    int k = (int)(intptr_t)arg, proc = consumer_proc(k);
    struct consumer_slot *p = &queue.p[k];

    sim_say("consumer %d: %s %s", k, evzk_consumer_event_name(event),
            evzk_errname(rc));
    if ((event == EVZK_CONSUMER_ITEM && plan_of(k)->claimed) ||
        event == EVZK_CONSUMER_DEAD_LETTER || event == EVZK_CONSUMER_SET_ASIDE)
        process_news(proc, "an item");
    else
        process_heard(proc, "the consumer's callback");
    if (p->c != c) {
        sim_violation("consumer %d calls back after it was freed", k);
        return;
    }
    if (event == EVZK_CONSUMER_ITEM)
        on_item(k, item);
    else if (event == EVZK_CONSUMER_TAKEN) {
        rules_taken(k, rc);
        p->taking = false;
    } else if (event == EVZK_CONSUMER_DEAD_LETTER)
        rules_dead(k, item, number_of(item));
    else if (event == EVZK_CONSUMER_SET_ASIDE)
        rules_aside(k, rc, item);
    else if (item)
        on_item_end(k, event, rc, item);
    if (evzk_consumer_event_is_final(event)) {
        rules_over(k, event, rc);
        p->over = true;
    }
    process_callback(proc);
    if (p->c == c && event == EVZK_CONSUMER_ITEM && plan_of(k)->ends_at_once &&
        !p->closing)
        close_consumer(k);
    if (p->c != c)
        return;
    if (p->over)
        free_consumer(k);
    else
        maybe_end(k);
}

/* Timers. */

static void close_due(intptr_t k)
{
    if (queue.p[k].c && !queue.p[k].closing)
        close_consumer((int)k);
}

static void free_due(intptr_t k)
{
    if (queue.p[k].c)
        free_consumer((int)k);
}

static bool cancel(int k)
{
    int rc;

    process_call_begins(consumer_proc(k));
    rc = evzk_consumer_cancel(queue.p[k].c);
    process_call_ends(consumer_proc(k));
    queue.p[k].canceled = queue.p[k].canceled || rc == EVZK_OK;
    return rc == EVZK_OK;
}

static void cancel_due(intptr_t k)
{
    if (queue.p[k].c && queue.p[k].taking)
        cancel((int)k);
}

static int start(int k, evzk_session *s)
{
    const struct consumer_plan *plan = plan_of(k);
    evzk_consumer_options opt = {.mode = plan->claimed
                                             ? EVZK_CONSUMER_CLAIMED
                                             : EVZK_CONSUMER_AT_MOST_ONCE,
                                 .prefetch = plan->prefetch,
                                 .max_deliveries = plan->max_deliveries,
                                 .layout = queue.own->layout};
    int rc;

    process_call_begins(plan->proc);
    rc = evzk_consumer_start(s, "/q", &opt, on_event, (void *)(intptr_t)k,
                             &queue.p[k].c);
    process_call_ends(plan->proc);
    return rc;
}

static void start_due(intptr_t arg)
{
    int k = (int)arg, proc = consumer_proc(k), rc;
    const struct process *p = process_of(proc);

    if (process_opening(proc)) {
        scene_timer_set(AGAIN_US, proc, start_due, k);
        return;
    }
    if (p->s && !p->closing) {
        rc = start(k, p->s);
        if (rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)) {
            scene_timer_set(AGAIN_US, proc, start_due, k);
            return;
        }
        if (rc != EVZK_OK)
            sim_violation("starting gave %s", evzk_errname(rc));
        else if (!plan_of(k)->prefetch)
            take(k);
    }
    queue.p[k].planned = 0;
    maybe_close(proc);
}

static void put_due(intptr_t i)
{
    char data = (char)('a' + i);

    if (queue.own->no_queue)
        ens_create(queue_path(""), "", 0, ZOO_PERSISTENT);
    ens_create(item_path((int)i), &data, 1,
               queue.own->item[i].ephemeral ? ZOO_EPHEMERAL : ZOO_PERSISTENT);
    if (evzk__queue_is_plain(queue.own->layout))
        return;
    if (ens_set_data(side_path("signal"), "", 0) != 0)
        ens_create(side_path("signal"), "", 0, ZOO_PERSISTENT);
}

static void last(intptr_t arg)
{
    (void)arg;
    for (int k = 0; !owes_any() && k < CONSUMERS; k++) {
        int before;

        if (!plan_of(k)->on || !queue.p[k].c || queue.p[k].closing)
            continue;
        before = sim_enter(consumer_proc(k));
        close_consumer(k);
        sim_leave(before);
    }
    scene_timer_set(LAST_US / 10, -1, last, 0);
}

static bool is_drained(void)
{
    for (int i = 0; i < ITEMS; i++) {
        if (queue.own->item[i].seq && !queue.t[i].gone)
            return false;
    }
    return true;
}

static void drained(intptr_t arg)
{
    (void)arg;
    if (!is_drained()) {
        scene_timer_set(DRAINED_US, -1, drained, 0);
        return;
    }
    for (int k = 0; k < CONSUMERS; k++) {
        int before;

        if (!plan_of(k)->drains || !queue.p[k].c || queue.p[k].closing)
            continue;
        before = sim_enter(consumer_proc(k));
        close_consumer(k);
        sim_leave(before);
    }
}

/* The beginning. */

static void make_segments(void)
{
    for (int i = 0; i < SEGMENTS; i++) {
        const struct segment_plan *plan = &queue.own->segment[i];
        struct evzk__segment seg = {plan->priority, plan->number};
        char name[EVZK__SEGMENT_NAME], rest[64];

        if (!plan->on)
            continue;
        evzk__segment_print(name, &seg);
        ens_create(queue_path(name), "", 0, ZOO_PERSISTENT);
        snprintf(rest, sizeof rest, "%s/open", name);
        if (plan->open)
            ens_create(queue_path(rest), "", 0, ZOO_PERSISTENT);
    }
}

static void make_queue(void)
{
    if (!queue.own->no_queue) {
        ens_create(queue_path(""), "", 0, ZOO_PERSISTENT);
        make_segments();
    }
    if (queue.own->tidies)
        consumer_leave_receipts();
    if (!queue.own->no_queue && !queue.own->no_signal &&
        !evzk__queue_is_plain(queue.own->layout))
        ens_create(side_path(EVZK__QUEUE_SIGNAL), "", 0, ZOO_PERSISTENT);
    for (int i = 0; i < ITEMS; i++) {
        const struct item_plan *it = &queue.own->item[i];

        if (it->seq && !it->put_us)
            put_due(i);
        else if (it->seq)
            scene_timer_set(it->put_us, -1, put_due, i);
    }
}

static void set_timers(int k)
{
    const struct consumer_plan *plan = plan_of(k);

    if (!plan->on)
        return;
    queue.p[k].planned = 1;
    scene_timer_set(plan->start_us ? plan->start_us : 1000, plan->proc,
                    start_due, k);
    if (plan->close_us)
        scene_timer_set(plan->close_us, plan->proc, close_due, k);
    if (plan->free_us)
        scene_timer_set(plan->free_us, plan->proc, free_due, k);
    if (plan->cancel_us)
        scene_timer_set(plan->cancel_us, plan->proc, cancel_due, k);
}

/* What else is a consumer's own has a GUID, and goes by its name. */
static bool removes(int proc, const char *path)
{
    (void)proc;
    return strstr(path, "/" EVZK__QUEUE_CLAIM) == NULL;
}

void consumer_begin(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000, .window = 16};

    scene_unhook();
    memset(&queue, 0, sizeof queue);
    queue.own = sc->own;
    cfg.chroot = queue.own->chroot;
    evzk__consumer_limits.aside_us = ASIDE_US;
    evzk__tidy_limits.again_us = 0;
    evzk__tidy_limits.list_us = 200 * 1000;
    evzk__tidy_limits.together = queue.own->tidies ? 2 : 0;
    process_trace = consumer_traced;
    ens_removes = removes;
    ens_reads_own = true;
    ens_takes = scene_takes_item;
    ens_begin(&scene_servers);
    make_queue();
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, p + 1 < SIM_SERVERS ? p + 1 : 0);
        process_open(p, &cfg);
    }
    for (int k = 0; k < CONSUMERS; k++)
        set_timers(k);
    consumer_acts_begin();
    scene_timer_set(LAST_US, -1, last, 0);
    if (queue.own->consumer[0].drains)
        scene_timer_set(DRAINED_US, -1, drained, 0);
}

bool consumer_done(void)
{
    for (int k = 0; k < CONSUMERS; k++) {
        if (queue.p[k].c || queue.p[k].planned)
            return false;
    }
    return processes_gone();
}

/* The explorer's calls. */

const char *const consumer_calls[] = {
    "free", "close", "cancel", "give-back", "finish", "close-session", NULL};

static int consumer_of(int proc)
{
    for (int k = 0; k < CONSUMERS; k++) {
        if (queue.p[k].c && consumer_proc(k) == proc)
            return k;
    }
    return -1;
}

static bool end_any(int k, bool give)
{
    for (int i = 0; i < ITEMS; i++) {
        if (queue.p[k].held[i])
            return end_item(k, i, give);
    }
    return false;
}

static bool close_session(int proc)
{
    if (!process_has_session(proc))
        return false;
    close_early(proc);
    return true;
}

bool consumer_call(int proc, unsigned which)
{
    int k = consumer_of(proc);

    if (which == 5)
        return close_session(proc);
    if (k < 0)
        return false;
    switch (which) {
    case 0:
        free_consumer(k);
        return true;
    case 1:
        if (queue.p[k].closing || queue.p[k].over)
            return false;
        close_consumer(k);
        return true;
    case 2:
        return queue.p[k].taking && cancel(k);
    default:
        return end_any(k, which == 3);
    }
}
