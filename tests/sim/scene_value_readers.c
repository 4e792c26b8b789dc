/* What a reader does: it reads the value once, or follows it for a while. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "owes.h"
#include "processes.h"
#include "scene.h"
#include "scene_setup.h"
#include "scene_value.h"
#include "steps.h"

enum { AGAIN_US = 2000 };

void value_reader_over(int i)
{
    valued.reader[i].over = true;
    value_maybe_close(reader_plan(i)->proc);
}

void value_free_reader(int i)
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
    value_reader_over(i);
}

static void check_reader(int i, int rc, const evzk_value *v)
{
    const struct reader_plan *plan = reader_plan(i);

    if (rc == EVZK_ERR_TIMEOUT && plan->timeout_ms)
        return;
    if (rc == EVZK_ERR_NOCHROOT &&
        (valued.reader[i].rootless || scene_lacks_root()))
        return;
    if ((rc == EVZK_OK) != (v != NULL) || rc == EVZK_ERR_NOCHROOT ||
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
        value_free_reader(i);
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
        value_free_reader(i);
}

bool value_cancel_reader(int i)
{
    struct reader *r = &valued.reader[i];
    int rc;

    process_call_begins(reader_plan(i)->proc);
    rc =
        r->q ? evzk_value_query_cancel(r->q) : evzk_value_follower_cancel(r->f);
    process_call_ends(reader_plan(i)->proc);
    sim_say("reader %d: cancel: %s", i, evzk_errname(rc));
    r->canceled = r->canceled || rc == EVZK_OK;
    if (rc == EVZK_OK && !r->due)
        r->due = sim_now();
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
    r->rootless = scene_rootless();
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
    if (r->begun && plan->timeout_ms)
        r->due = sim_now() + plan->timeout_ms * INT64_C(1000);
    return rc;
}

static void stop_reader(intptr_t arg)
{
    int i = (int)arg;

    if (!valued.reader[i].f || valued.reader[i].canceled)
        return;
    if (scene_rootless())
        sim_violation("reader %d does not hear that there is no chroot", i);
    if (owes_any())
        scene_timer_set(OWES_AGAIN_US, reader_plan(i)->proc, stop_reader, arg);
    else
        value_cancel_reader(i);
}

void value_start_reader(intptr_t arg)
{
    int i = (int)arg, rc = EVZK_ERR_NOMEM;
    const struct reader_plan *plan = reader_plan(i);
    const struct process *p = process_of(plan->proc);

    if (valued.reader[i].over)
        return;
    if (!process_opening(plan->proc)) {
        if (p->closing || !p->s) {
            value_reader_over(i);
            return;
        }
        rc = begin_reader(i);
        if (!process_may_return(plan->proc, rc))
            sim_violation("reader %d: %s", i, evzk_errname(rc));
    }
    if (rc != EVZK_OK)
        scene_timer_set(AGAIN_US, plan->proc, value_start_reader, arg);
    else if (!plan->gets)
        scene_timer_set(in_us(plan->stop_ms), plan->proc, stop_reader, arg);
}
