/* What a writer does: it asks for one write after another, and ends. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_value.h"
#include "steps.h"

enum { AGAIN_US = 2000 };

void value_writer_over(int i)
{
    valued.writer[i].over = true;
    value_maybe_close(writer_plan(i)->proc);
}

void value_free_writer(int i)
{
    evzk_value_writer *gone = valued.writer[i].w;

    valued.writer[i].w = NULL;
    process_call_begins(writer_plan(i)->proc);
    evzk_value_writer_free(gone);
    process_call_ends(writer_plan(i)->proc);
    value_writer_over(i);
}

static void on_write(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    int i = (int)(intptr_t)arg / OPS, n = (int)(intptr_t)arg % OPS;
    struct writer *d = &valued.writer[i];

    sim_say("write %d.%d: %s, %lld", i, n, evzk_errname(rc), (long long)number);
    process_heard(writer_plan(i)->proc, "a write's callback");
    if (d->w != w)
        sim_violation("write %d.%d is told after its writer was freed", i, n);
    if (d->op[n].told || n != d->n_told)
        sim_violation("write %d.%d is told, and %d is the next", i, n,
                      (int)d->n_told);
    d->n_told = n + 1;
    d->op[n].told = true;
    d->op[n].rc = rc;
    d->op[n].number = number;
    if (rc == EVZK_OK) {
        d->done_before = d->done_at;
        d->done_at = sim_now();
    }
    value_look();
    value_check_told(i, n);
    process_callback(writer_plan(i)->proc); /* The explorer may free it here. */
}

static void on_end(evzk_value_writer *w, evzk_value_writer_event event, int rc,
                   void *arg)
{
    int i = (int)(intptr_t)arg, proc = writer_plan(i)->proc;
    struct writer *d = &valued.writer[i];
    bool asked = d->closed || d->canceled;

    sim_say("writer %d: %s: %s", i, evzk_value_writer_event_name(event),
            evzk_errname(rc));
    process_heard(proc, "the writer's callback");
    if (d->w != w)
        sim_violation("writer %d: its end is told after it was freed", i);
    if (d->n_told != d->n_ops)
        sim_violation("writer %d: it has ended, and a write was not told", i);
    if (!value_rc_ok(proc, rc, false) ||
        (event == EVZK_VALUE_WRITER_CLOSED) != (rc == EVZK_OK) ||
        (rc == EVZK_OK && !asked))
        sim_violation("writer %d: %s: %s", i,
                      evzk_value_writer_event_name(event), evzk_errname(rc));
    process_callback(proc);
    if (d->w == w)
        value_free_writer(i);
}

static int ask(int i, int n, struct value_op *op)
{
    evzk_value_writer *w = valued.writer[i].w;
    void *arg = (void *)(intptr_t)(i * OPS + n);
    char text[16];
    size_t len = (size_t)snprintf(text, sizeof text, "w%d.%d", i, n);

    switch (op->kind) {
    case 's':
        return evzk_value_set(w, text, len, on_write, arg);
    case 'n':
        return evzk_value_create(w, text, len, on_write, arg);
    case '+':
        return evzk_counter_add(w, value_delta(i, n), on_write, arg);
    case 'x':
        return evzk_counter_add(w, INT64_MAX, on_write, arg);
    default:
        return evzk_value_compare_set(w, &op->stamp, text, len, on_write, arg);
    }
}

int value_write_now(int i, char kind)
{
    struct writer *d = &valued.writer[i];
    int n = (int)d->n_ops, rc;
    struct value_op *op = &d->op[n];
    const struct value_state *s;

    value_look();
    s = &valued.seen[valued.n_seen - 1];
    *op = (struct value_op){
        .kind = kind, .from = valued.n_seen - 1, .losses = value_losses()};
    op->stamp = (evzk_value_stamp){s->czxid, s->version};
    if (kind == 'o')
        op->stamp.version++;
    process_call_begins(writer_plan(i)->proc);
    rc = ask(i, n, op);
    process_call_ends(writer_plan(i)->proc);
    sim_say("writer %d: asks for %d, %c: %s", i, n, kind, evzk_errname(rc));
    d->n_ops += rc == EVZK_OK;
    return rc;
}

bool value_end_as(int i, bool cancel)
{
    struct writer *d = &valued.writer[i];
    int rc;

    process_call_begins(writer_plan(i)->proc);
    rc = (cancel ? evzk_value_writer_cancel : evzk_value_writer_close)(d->w);
    process_call_ends(writer_plan(i)->proc);
    sim_say("writer %d: %s: %s", i, cancel ? "cancel" : "close",
            evzk_errname(rc));
    if (rc == EVZK_OK)
        *(cancel ? &d->canceled : &d->closed) = true;
    return rc == EVZK_OK;
}

static void end_writer(int i)
{
    switch (writer_plan(i)->ending) {
    case VALUE_CLOSES:
        value_end_as(i, false);
        break;
    case VALUE_CANCELS:
        value_end_as(i, true);
        break;
    case VALUE_FREES:
        value_free_writer(i);
        break;
    }
}

static int begin_writer(int i)
{
    static const evzk_acl no_write = {EVZK_PERM_ALL & ~EVZK_PERM_WRITE, "world",
                                      "anyone"};
    const struct process *p = process_of(writer_plan(i)->proc);
    evzk_value_options opt = {.pending_max = writer_plan(i)->pending_max};
    int rc;

    if (valued.own->sealed) {
        opt.acl = &no_write;
        opt.acl_count = 1;
    }
    process_call_begins(writer_plan(i)->proc);
    rc = evzk_value_writer_start(
        p->s, valued.own->path ? valued.own->path : "/v", &opt, on_end,
        (void *)(intptr_t)i, &valued.writer[i].w);
    process_call_ends(writer_plan(i)->proc);
    valued.writer[i].begun = rc == EVZK_OK;
    return rc;
}

static bool may_be_asked(int i, int rc)
{
    const struct writer *d = &valued.writer[i];

    return process_may_return(writer_plan(i)->proc, rc) ||
           (rc == EVZK_ERR_BUSY && writer_plan(i)->pending_max) ||
           (rc == EVZK_ERR_STATE &&
            (d->closed || d->canceled || ens_denied(writer_plan(i)->proc) ||
             evzk_value_writer_pending(d->w) == 0));
}

/* The next act.  Returns in how long another comes; 0: never. */
static int64_t step(int i)
{
    const struct writer_plan *plan = writer_plan(i);
    struct writer *d = &valued.writer[i];
    size_t all = strlen(plan->writes);
    int rc = EVZK_OK;

    if (!d->begun)
        rc = begin_writer(i);
    else if (!d->closed && !d->canceled && (size_t)d->n_ops < all)
        rc = value_write_now(i, plan->writes[d->n_ops]);
    else {
        end_writer(i);
        return 0;
    }
    if (!may_be_asked(i, rc))
        sim_violation("writer %d: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_STATE || rc == EVZK_ERR_CLOSED) {
        if (!d->w)
            value_writer_over(i);
        return 0;
    }
    if (rc != EVZK_OK)
        return AGAIN_US;
    return plan->gap_ms && d->n_ops ? in_us(plan->gap_ms) : 1;
}

void value_start_writer(intptr_t arg)
{
    int i = (int)arg, proc = writer_plan(i)->proc;
    const struct process *p = process_of(proc);
    int64_t us = AGAIN_US;

    if (valued.writer[i].over ||
        (valued.writer[i].begun && !valued.writer[i].w))
        return;
    if (!process_opening(proc) && (p->closing || !p->s)) {
        if (!valued.writer[i].w)
            value_writer_over(i);
        return;
    }
    if (!process_opening(proc))
        us = step(i);
    if (us && !valued.writer[i].over)
        scene_timer_set(us, proc, value_start_writer, arg);
}
