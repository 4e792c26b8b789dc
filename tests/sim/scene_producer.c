/* Processes that put items into a queue: see scene_producer.h. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "recipes/producer/producer_internal.h"
#include "scene.h"
#include "scene_closing.h"
#include "scene_list.h"
#include "scene_producer.h"
#include "scene_setup.h"
#include "steps.h"

enum { AGAIN_US = 2000, EXTRA_PUTS = 1 };

struct producer_world putting;
SIM_KEEP(putting)

/* The end of a process. */

static bool is_busy(int proc)
{
    for (int i = 0; i < PRODUCERS; i++) {
        if (plan_of(i)->puts && plan_of(i)->proc == proc && !putting.of[i].over)
            return true;
    }
    return false;
}

static void maybe_close(int proc)
{
    if (!is_busy(proc))
        close_when_idle(proc);
}

static void over(int i)
{
    putting.of[i].over = true;
    maybe_close(plan_of(i)->proc);
}

static void free_it(int i)
{
    int proc = plan_of(i)->proc;
    evzk_producer *gone = putting.of[i].p;

    putting.of[i].p = NULL;
    process_call_begins(proc);
    evzk_producer_free(gone);
    process_call_ends(proc);
    over(i);
}

/* Callbacks. */

static void act(intptr_t arg);

static void on_put(evzk_producer *p, int rc, size_t done, void *arg)
{
    int i = (int)(intptr_t)arg / PUTS, n = (int)(intptr_t)arg % PUTS;
    int proc = plan_of(i)->proc;
    struct producer *d = &putting.of[i];

    sim_say("producer %d: put %d: %s, %d", i, n, evzk_errname(rc), (int)done);
    process_heard(proc, "a put's callback");
    if (d->p != p)
        sim_violation("producer %d: a put is told after it was freed", i);
    if (d->put[n].told || n != d->n_told)
        sim_violation("producer %d: put %d is told, and put %d is the next", i,
                      n, (int)d->n_told);
    d->n_told = n + 1;
    d->put[n].told = true;
    d->put[n].rc = rc;
    d->put[n].done = (uint16_t)done;
    producer_check_told(i, &d->put[n]);
    process_callback(proc); /* The explorer may free it here. */
    if (d->p == p && plan_of(i)->ending == CLOSES_LATE &&
        d->n_puts >= plan_of(i)->puts)
        scene_timer_set(AGAIN_US, proc, act, i);
}

static void on_end(evzk_producer *p, evzk_producer_event event, int rc,
                   void *arg)
{
    int i = (int)(intptr_t)arg, proc = plan_of(i)->proc;
    struct producer *d = &putting.of[i];
    bool asked = d->closed || d->canceled;

    sim_say("producer %d: %s: %s", i, evzk_producer_event_name(event),
            evzk_errname(rc));
    process_heard(proc, "the producer's callback");
    if (d->p != p)
        sim_violation("producer %d: its end is told after it was freed", i);
    if (d->n_told != d->n_puts)
        sim_violation("producer %d: it has ended, and a put was not told", i);
    if (!producer_rc_ok(i, rc) ||
        (event == EVZK_PRODUCER_CLOSED) != (rc == EVZK_OK) ||
        (rc == EVZK_OK && !asked))
        sim_violation("producer %d: %s: %s", i, evzk_producer_event_name(event),
                      evzk_errname(rc));
    process_callback(proc);
    if (d->p == p)
        free_it(i);
}

/* What the processes do. */

static bool is_allowed(int i, int rc)
{
    const struct producer *d = &putting.of[i];

    return process_may_return(plan_of(i)->proc, rc) ||
           (rc == EVZK_ERR_BUSY && plan_of(i)->pending_max) ||
           (rc == EVZK_ERR_STATE &&
            (d->closed || d->canceled || ens_denied(plan_of(i)->proc) ||
             ens_shut_otherwise(plan_of(i)->proc) || /* Has failed. */
             ens_throttles(plan_of(i)->proc) > REFUSALS ||
             evzk_producer_pending(d->p) == 0));
}

static void write_item(int i, int n, char text[LARGE], evzk_put_item *item)
{
    item->data = text;
    item->len = (size_t)snprintf(text, LARGE, "%d.%d", i, n);
    if (putting.own->large == n && n > 0) {
        memset(text + item->len, '.', LARGE - item->len);
        item->len = LARGE;
    }
    if (plan_of(i)->priorities)
        item->priority = (uint32_t)(n % plan_of(i)->priorities);
}

static int put_now(int i)
{
    const struct producer_plan *plan = plan_of(i);
    struct producer *d = &putting.of[i];
    struct put *put = &d->put[d->n_puts];
    evzk_put_item items[ITEMS] = {0};
    char text[ITEMS][LARGE];
    int rc;

    for (int k = 0; k < plan->items; k++)
        write_item(i, (int)d->n_items + k, text[k], &items[k]);
    process_call_begins(plan->proc);
    rc = evzk_producer_put(d->p, items, (size_t)plan->items, on_put,
                           (void *)(intptr_t)(i * PUTS + d->n_puts));
    process_call_ends(plan->proc);
    sim_say("producer %d: puts %d: %s", i, (int)d->n_puts, evzk_errname(rc));
    if (rc != EVZK_OK)
        return rc;
    put->first = (uint16_t)d->n_items;
    put->n = (uint16_t)plan->items;
    d->n_puts++;
    d->n_items += plan->items;
    return rc;
}

static bool end_as(int i, bool cancel)
{
    struct producer *d = &putting.of[i];
    int rc;

    process_call_begins(plan_of(i)->proc);
    rc = (cancel ? evzk_producer_cancel : evzk_producer_close)(d->p);
    process_call_ends(plan_of(i)->proc);
    sim_say("producer %d: %s: %s", i, cancel ? "cancel" : "close",
            evzk_errname(rc));
    if (rc == EVZK_OK)
        *(cancel ? &d->canceled : &d->closed) = true;
    return rc == EVZK_OK;
}

static void end_it(int i)
{
    switch (plan_of(i)->ending) {
    case CLOSES:
    case CLOSES_LATE:
        end_as(i, false);
        break;
    case CANCELS:
        end_as(i, true);
        break;
    case FREES:
        free_it(i);
        break;
    }
}

static int begin_it(int i)
{
    static const evzk_acl no_write = {EVZK_PERM_ALL & ~EVZK_PERM_WRITE, "world",
                                      "anyone"};
    const struct process *p = process_of(plan_of(i)->proc);
    evzk_producer_options opt = {.layout = putting.own->layout,
                                 .ephemeral = plan_of(i)->ephemeral,
                                 .pending_max = plan_of(i)->pending_max};
    int rc;

    if (putting.own->sealed_off) {
        opt.acl = &no_write;
        opt.acl_count = 1;
    }
    process_call_begins(plan_of(i)->proc);
    rc = evzk_producer_start(p->s, "/q", &opt, on_end, (void *)(intptr_t)i,
                             &putting.of[i].p);
    process_call_ends(plan_of(i)->proc);
    putting.of[i].begun = rc == EVZK_OK;
    return rc;
}

/* The next act: begins it.  Returns in how long another comes; 0: never. */
static int64_t step(int i)
{
    const struct producer_plan *plan = plan_of(i);
    struct producer *d = &putting.of[i];
    bool more = d->n_puts < plan->puts;
    int rc = EVZK_OK;

    if (!d->begun)
        rc = begin_it(i);
    else if (!d->closed && !d->canceled && more)
        rc = put_now(i);
    else {
        if (plan->ending != CLOSES_LATE || d->n_told == d->n_puts)
            end_it(i);
        return 0;
    }
    if (!is_allowed(i, rc))
        sim_violation("producer %d: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_STATE || rc == EVZK_ERR_CLOSED) {
        if (!d->p)
            over(i);
        return 0;
    }
    if (rc != EVZK_OK)
        return AGAIN_US;
    return plan->gap_ms && d->n_puts ? in_us(plan->gap_ms) : 1;
}

static void act(intptr_t arg)
{
    int i = (int)arg;
    const struct process *p = process_of(plan_of(i)->proc);
    int64_t us = AGAIN_US;

    if (putting.of[i].over || (putting.of[i].begun && !putting.of[i].p))
        return;
    if (p->closing || !p->s) {
        if (!process_opening(plan_of(i)->proc) && !putting.of[i].p)
            over(i);
        else if (process_opening(plan_of(i)->proc))
            scene_timer_set(us, plan_of(i)->proc, act, arg);
        return;
    }
    if (!process_opening(plan_of(i)->proc))
        us = step(i);
    if (us && !putting.of[i].over)
        scene_timer_set(us, plan_of(i)->proc, act, arg);
}

bool producer_done(void)
{
    for (int i = 0; i < PRODUCERS; i++) {
        if (plan_of(i)->puts && !putting.of[i].over)
            return false;
    }
    return processes_gone();
}

/* The beginning. */

static const char no_frame[ALIEN + 1] = "of somebody";
/* Nobody here has put that item: the rules tell it by its length. */
static void put_alien(const char *path, const char *data)
{
    ens_create(path, data, ALIEN, 0);
}

/* As an operator copies a queue znode by znode: numbers begin anew. */
static void make_copy(void)
{
    ens_create("/q/seg-00-0000000000", "", 0, 0);
    ens_create("/q/seg-00-0000000000/open", "", 0, 0);
    put_alien("/q/seg-00-0000000000/queue-0000000001", no_frame);
    put_alien("/q/seg-00-0000000000/queue-0000000002", no_frame);
    ens_set_sequence("/q/seg-00-0000000000", 1);
}

static void make_queue(void)
{
    ens_create("/q", "", 0, 0);
    if (putting.own->refuses || putting.own->hidden) {
        ens_create("/q/receipts", "", 0, 0);
        ens_create("/q/signal", "", 0, 0);
    }
    if (putting.own->refuses)
        ens_set_perms("/q", EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
    if (putting.own->hidden)
        ens_set_perms("/q", EVZK_PERM_ALL & ~EVZK_PERM_READ);
    if (putting.own->denied) {
        ens_create("/q/seg-01-0000000000", "", 0, 0);
        ens_create("/q/seg-01-0000000000/open", "", 0, 0);
        ens_set_perms("/q/seg-01-0000000000",
                      EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
    }
    if (putting.own->full)
        ens_set_sequence("/q", INT32_MAX);
    if (putting.own->last) {
        ens_create("/q/seg-01-4294967295", "", 0, 0);
        put_alien("/q/seg-01-4294967295/queue-0000000001", no_frame);
    }
    if (putting.own->copied)
        make_copy();
    if (putting.own->foreign)
        put_alien(putting.own->foreign, putting.own->data);
}

static void set_limits(void)
{
    evzk__producer_limits.segment_items =
        putting.own->segment ? putting.own->segment : 1000;
    evzk__producer_limits.batch_items =
        putting.own->batch ? putting.own->batch : 12;
    evzk__producer_limits.first_items = 2;
    evzk__producer_limits.batch_bytes = 900000;
    evzk__producer_limits.plain_items =
        putting.own->most ? putting.own->most : EVZK_QUEUE_PLAIN_MAX;
}

void producer_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    servers.quirk_end = true;
    putting.own = sc->own;
    servers.most_bytes = putting.own->takes;
    cfg.chroot = putting.own->chroot;
    set_limits();
    ens_begin(&servers);
    wire_taken = producer_sends;
    if (putting.own->stands)
        make_queue();
    scene_open(sc, &cfg);
    for (int i = 0; i < PRODUCERS; i++) {
        if (plan_of(i)->puts)
            scene_timer_set(in_us(plan_of(i)->start_ms), plan_of(i)->proc, act,
                            i);
    }
    producer_others_begin();
}

/* The explorer's calls. */

const char *const producer_calls[] = {"put",  "close",         "cancel",
                                      "free", "close-session", NULL};
enum { PUT, CLOSE, CANCEL, FREE, CLOSE_SESSION };

static int producer_of(int proc)
{
    for (int i = 0; i < PRODUCERS; i++) {
        if (putting.of[i].p && plan_of(i)->proc == proc)
            return i;
    }
    return -1;
}

static bool put_more(int i)
{
    struct producer *d = &putting.of[i];

    if (d->extra == EXTRA_PUTS || d->n_puts == PUTS ||
        d->n_items + plan_of(i)->items > ITEMS)
        return false;
    d->extra++;
    return put_now(i) == EVZK_OK;
}

static bool close_session(int proc)
{
    if (!close_early(proc))
        return false;
    for (int i = 0; i < PRODUCERS; i++) {
        if (plan_of(i)->puts && plan_of(i)->proc == proc && !putting.of[i].p)
            over(i);
    }
    return true;
}

bool producer_call(int proc, unsigned which)
{
    int i = producer_of(proc);

    if (which == CLOSE_SESSION)
        return close_session(proc);
    if (i < 0)
        return false;
    switch (which) {
    case PUT:
        return put_more(i);
    case CLOSE:
    case CANCEL:
        return end_as(i, which == CANCEL);
    default:
        free_it(i);
        return true;
    }
}
