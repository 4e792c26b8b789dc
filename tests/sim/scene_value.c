/* Processes that read, follow and write a value: see scene_value.h. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_list.h"
#include "scene_value.h"
#include "steps.h"

enum {
    AGAIN_US = 2000,
    LINK_US = 500,
    LAG_US = 50 * 1000,
    LINGER_US = 10000,
    PATIENCE = 400,
    EXTRA_WRITES = 1
};

struct value_world valued;
SIM_KEEP(valued)

/* The end of a process. */

static bool is_busy(int proc)
{
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i) && writer_plan(i)->proc == proc && !valued.writer[i].over)
            return true;
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i) && reader_plan(i)->proc == proc && !valued.reader[i].over)
            return true;
    }
    return false;
}

/* An object that was freed ends in the background; not for ever. */
static void close_idle(intptr_t arg)
{
    int proc = (int)arg;
    const struct process *p = process_of(proc);

    if (p->closing || !p->s)
        return;
    if (!process_is_idle(p) && valued.patience[proc]++ < PATIENCE) {
        scene_timer_set(LINGER_US, proc, close_idle, proc);
        return;
    }
    valued.early[proc] = valued.early[proc] || !process_is_idle(p);
    process_close(proc);
}

static void maybe_close(int proc)
{
    if (!is_busy(proc) && !valued.patience[proc]++)
        scene_timer_set(LINGER_US, proc, close_idle, proc);
}

/* ---- Readers ---- */

static void reader_over(int i)
{
    valued.reader[i].over = true;
    maybe_close(reader_plan(i)->proc);
}

static void free_reader(int i)
{
    struct reader *r = &valued.reader[i];
    evzk_value_query *q = r->q;
    evzk_value_follower *f = r->f;

    r->q = NULL;
    r->f = NULL;
    process_call_begins(reader_plan(i)->proc);
    evzk_value_query_free(q);
    evzk_value_follower_free(f);
    process_call_ends(reader_plan(i)->proc);
    reader_over(i);
}

static void check_reader(int i, int rc, const evzk_value *v)
{
    const struct reader_plan *plan = reader_plan(i);

    if (rc == EVZK_ERR_TIMEOUT && plan->timeout_ms)
        return;
    if ((rc == EVZK_OK) != (v != NULL) ||
        !value_rc_ok(plan->proc, rc, valued.reader[i].canceled))
        sim_violation("reader %d: %s", i, evzk_errname(rc));
    if (v)
        value_check_read(i, v, !plan->gets);
}

static void on_query(evzk_value_query *q, int rc, const evzk_value *v,
                     void *arg)
{
    int i = (int)(intptr_t)arg, proc = reader_plan(i)->proc;
    struct reader *r = &valued.reader[i];

    sim_say("reader %d: %s", i, evzk_errname(rc));
    process_heard(proc, "a query's callback");
    if (r->q != q)
        sim_violation("reader %d: told twice", i);
    check_reader(i, rc, v);
    process_callback(proc); /* The explorer may free it here. */
    if (r->q == q)
        free_reader(i);
}

static void on_follower(evzk_value_follower *f, evzk_value_follower_event event,
                        int rc, const evzk_value *v, void *arg)
{
    int i = (int)(intptr_t)arg, proc = reader_plan(i)->proc;
    struct reader *r = &valued.reader[i];
    bool ended = evzk_value_follower_event_is_final(event);

    sim_say("reader %d: %s: %s", i, evzk_value_follower_event_name(event),
            evzk_errname(rc));
    if (ended)
        process_heard(proc, "a follower's end");
    else
        process_news(proc, "a follower's value");
    if (r->f != f)
        sim_violation("reader %d: told behind its end", i);
    if (ended == (rc == EVZK_OK))
        sim_violation("reader %d: %s", i, evzk_errname(rc));
    check_reader(i, rc, v);
    process_callback(proc);
    if (r->f == f && ended)
        free_reader(i);
}

static bool cancel_reader(int i)
{
    struct reader *r = &valued.reader[i];
    int rc;

    process_call_begins(reader_plan(i)->proc);
    rc =
        r->q ? evzk_value_query_cancel(r->q) : evzk_value_follower_cancel(r->f);
    process_call_ends(reader_plan(i)->proc);
    sim_say("reader %d: cancel: %s", i, evzk_errname(rc));
    r->canceled = r->canceled || rc == EVZK_OK;
    return rc == EVZK_OK;
}

static int begin_reader(int i)
{
    const struct reader_plan *plan = reader_plan(i);
    struct reader *r = &valued.reader[i];
    evzk_session *s = process_of(plan->proc)->s;
    evzk_value_options opt = {.timeout_ms = plan->timeout_ms};
    int rc;

    value_look();
    r->at = valued.n_seen - 1;
    process_call_begins(plan->proc);
    if (plan->gets)
        rc =
            evzk_value_get(s, "/v", &opt, on_query, (void *)(intptr_t)i, &r->q);
    else
        rc = evzk_value_follow(s, "/v", NULL, on_follower, (void *)(intptr_t)i,
                               &r->f);
    process_call_ends(plan->proc);
    sim_say("reader %d begins: %s", i, evzk_errname(rc));
    r->begun = rc == EVZK_OK;
    return rc;
}

static void stop_reader(intptr_t arg)
{
    int i = (int)arg;

    if (valued.reader[i].f && !valued.reader[i].canceled)
        cancel_reader(i);
}

static void start_reader(intptr_t arg)
{
    int i = (int)arg, rc = EVZK_ERR_NOMEM;
    const struct reader_plan *plan = reader_plan(i);
    const struct process *p = process_of(plan->proc);

    if (valued.reader[i].over)
        return;
    if (!process_opening(plan->proc)) {
        if (p->closing || !p->s) {
            reader_over(i);
            return;
        }
        rc = begin_reader(i);
        if (!process_may_return(plan->proc, rc))
            sim_violation("reader %d: %s", i, evzk_errname(rc));
    }
    if (rc != EVZK_OK)
        scene_timer_set(AGAIN_US, plan->proc, start_reader, arg);
    else if (!plan->gets)
        scene_timer_set(plan->stop_ms * INT64_C(1000), plan->proc, stop_reader,
                        arg);
}

/* ---- Writers ---- */

static void writer_over(int i)
{
    valued.writer[i].over = true;
    maybe_close(writer_plan(i)->proc);
}

static void free_writer(int i)
{
    evzk_value_writer *gone = valued.writer[i].w;

    valued.writer[i].w = NULL;
    process_call_begins(writer_plan(i)->proc);
    evzk_value_writer_free(gone);
    process_call_ends(writer_plan(i)->proc);
    writer_over(i);
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
        free_writer(i);
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

static int write_now(int i, char kind)
{
    struct writer *d = &valued.writer[i];
    int n = (int)d->n_ops, rc;
    struct value_op *op = &d->op[n];
    const struct value_state *s;

    value_look();
    s = &valued.seen[valued.n_seen - 1];
    *op = (struct value_op){.kind = kind, .from = valued.n_seen - 1};
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

static bool end_as(int i, bool cancel)
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
        end_as(i, false);
        break;
    case VALUE_CANCELS:
        end_as(i, true);
        break;
    case VALUE_FREES:
        free_writer(i);
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
            (d->closed || d->canceled || evzk_value_writer_pending(d->w) == 0));
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
        rc = write_now(i, plan->writes[d->n_ops]);
    else {
        end_writer(i);
        return 0;
    }
    if (!may_be_asked(i, rc))
        sim_violation("writer %d: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_STATE || rc == EVZK_ERR_CLOSED) {
        if (!d->w)
            writer_over(i);
        return 0;
    }
    if (rc != EVZK_OK)
        return AGAIN_US;
    return plan->gap_ms && d->n_ops ? plan->gap_ms * INT64_C(1000) : 1;
}

static void act(intptr_t arg)
{
    int i = (int)arg, proc = writer_plan(i)->proc;
    const struct process *p = process_of(proc);
    int64_t us = AGAIN_US;

    if (valued.writer[i].over ||
        (valued.writer[i].begun && !valued.writer[i].w))
        return;
    if (!process_opening(proc) && (p->closing || !p->s)) {
        if (!valued.writer[i].w)
            writer_over(i);
        return;
    }
    if (!process_opening(proc))
        us = step(i);
    if (us && !valued.writer[i].over)
        scene_timer_set(us, proc, act, arg);
}

bool value_done(void)
{
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i) && !valued.writer[i].over)
            return false;
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i) && !valued.reader[i].over)
            return false;
    }
    return processes_gone();
}

/* The beginning. */

static void make_value(void)
{
    if (valued.own->above_perms)
        ens_set_perms("/", (int)(EVZK_PERM_ALL & ~valued.own->above_perms));
    if (!valued.own->data)
        return;
    ens_create(valued.path, valued.own->data, strlen(valued.own->data), 0);
    if (valued.own->perms)
        ens_set_perms(valued.path, (int)(EVZK_PERM_ALL & ~valued.own->perms));
}

static void begin_servers(void)
{
    struct ens_config servers = {.servers = 3,
                                 .tick_ms = 100,
                                 .commit_us = 2000,
                                 .link_us = LINK_US,
                                 .patience_us = 500 * 1000};

    if (valued.own->lags)
        servers.link_us = LAG_US;
    ens_begin(&servers);
}

void value_begin(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    valued.own = sc->own;
    cfg.chroot = valued.own->chroot;
    strcpy(valued.path, valued.own->path ? valued.own->path : "/v");
    process_trace = NULL;
    process_leases = NULL;
    ens_removes = NULL;
    ens_reads_own = false;
    begin_servers();
    make_value();
    value_look();
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, p == 0 ? FOLLOWER_1 : p == 1 ? LEADER : FOLLOWER_2);
        process_open(p, &cfg);
    }
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i))
            scene_timer_set(writer_plan(i)->start_ms * INT64_C(1000),
                            writer_plan(i)->proc, act, i);
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i))
            scene_timer_set(reader_plan(i)->start_ms * INT64_C(1000),
                            reader_plan(i)->proc, start_reader, i);
    }
    value_acts_begin();
}

/* The explorer's calls. */

const char *const value_calls[] = {"write", "close",         "cancel",
                                   "free",  "close-session", NULL};
enum { WRITE, CLOSE, CANCEL, FREE, CLOSE_SESSION };

static int writer_of(int proc)
{
    for (int i = 0; i < WRITERS; i++) {
        if (valued.writer[i].w && writer_plan(i)->proc == proc)
            return i;
    }
    return -1;
}

static int reader_of(int proc)
{
    for (int i = 0; i < READERS; i++) {
        if ((valued.reader[i].q || valued.reader[i].f) &&
            reader_plan(i)->proc == proc)
            return i;
    }
    return -1;
}

static bool write_more(int i)
{
    struct writer *d = &valued.writer[i];

    if (d->extra == EXTRA_WRITES || d->n_ops == OPS)
        return false;
    d->extra++;
    return write_now(i, writer_plan(i)->writes[0]) == EVZK_OK;
}

static bool close_session(int proc)
{
    if (!process_of(proc)->s || process_of(proc)->closing)
        return false;
    valued.early[proc] = true;
    process_close(proc);
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i) && writer_plan(i)->proc == proc && !valued.writer[i].w)
            writer_over(i);
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i) && reader_plan(i)->proc == proc && !valued.reader[i].q &&
            !valued.reader[i].f)
            reader_over(i);
    }
    return true;
}

static bool call_reader(int i, unsigned which)
{
    if (i < 0 || which < CANCEL)
        return false;
    if (which == CANCEL)
        return cancel_reader(i);
    free_reader(i);
    return true;
}

bool value_call(int proc, unsigned which)
{
    int i = writer_of(proc);

    if (which == CLOSE_SESSION)
        return close_session(proc);
    if (i < 0)
        return call_reader(reader_of(proc), which);
    switch (which) {
    case WRITE:
        return write_more(i);
    case CLOSE:
    case CANCEL:
        return end_as(i, which == CANCEL);
    default:
        free_writer(i);
        return true;
    }
}
