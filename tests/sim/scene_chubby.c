/* Processes with handles on files: each handle does what its plan says. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_chubby.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"
#include "wire.h"

enum {
    AGAIN_US = 5000,
    LEAVE_MS = 900,
    CLOSE_MS = 500,
    LEAVE_TRIES = 40,
    REFUSED_US = 20 * 1000 * 1000 /* The longest pause, and more. */
};

struct chubby_world chubbies;
SIM_KEEP(chubbies)

/* The end. */

static void leave(intptr_t proc)
{
    if (!process_of((int)proc)->s || process_of((int)proc)->closing)
        return;
    /* An object that was let go of comes to its end, long before the session
     * does. */
    if (!process_is_idle(process_of((int)proc)) &&
        (chubbies.leaves[proc]++ < LEAVE_TRIES ||
         sim_now() - ens_throttled_at((int)proc) < REFUSED_US)) {
        scene_timer_set(LEAVE_MS * INT64_C(1000), (int)proc, leave, proc);
        return;
    }
    if (!process_is_idle(process_of((int)proc)))
        sim_violation("process %d never comes to rest", (int)proc);
    chubby_check_left((int)proc);
    process_close((int)proc);
}

static void over(int i)
{
    int proc = chubby_plan_of(i)->proc;

    chubbies.of[i].over = true;
    for (int k = 0; k < HANDLES; k++) {
        if (chubby_plan_of(k)->open_ms && chubby_plan_of(k)->proc == proc &&
            !chubbies.of[k].over)
            return;
    }
    scene_timer_set(LEAVE_MS * INT64_C(1000), proc, leave, proc);
}

static void drop(int i)
{
    struct chubby_handle *h = &chubbies.of[i];
    evzk_chubby *gone = h->h;

    h->h = NULL;
    h->hold.clean = true;
    for (int k = 0; k < chubbies.n_ops; k++) {
        if (chubbies.op[k].handle == i + 1 && !chubbies.op[k].told)
            chubbies.op[k].told = chubbies.op[k].unknown = true;
    }
    process_call_begins(chubby_plan_of(i)->proc);
    evzk_chubby_free(gone);
    process_call_ends(chubby_plan_of(i)->proc);
    over(i);
}

/* The handles. */

static void act(int i, enum chubby_act what, int of);

static void act_inside(int i, const struct chubby_does *v, int what)
{
    for (int k = 0; k < 2; k++) {
        if (v[k].act != ACT_NONE && v[k].ms == what && chubbies.of[i].h)
            act(i, v[k].act, v[k].of);
    }
}

static void on_event(evzk_chubby *handle, evzk_chubby_event event, int rc,
                     const char *name, void *arg)
{
    int i = (int)(intptr_t)arg, proc = chubby_plan_of(i)->proc;
    bool final = evzk_chubby_event_is_final(event);

    sim_say("handle %d: %s, %s%s%s", i, evzk_chubby_event_name(event),
            evzk_errname(rc), name ? ", " : "", name ? name : "");
    if (final)
        process_heard(proc, "the handle's callback");
    else
        process_news(proc, "the handle's event");
    if (chubbies.of[i].h != handle)
        sim_violation("handle %d: %s behind its end", i,
                      evzk_chubby_event_name(event));
    chubby_told(i, event, rc);
    act_inside(i, chubby_plan_of(i)->in_event, (int)event);
    process_callback(proc);
    if (final && chubbies.of[i].h)
        drop(i);
}

static void on_done(evzk_chubby *handle, int rc, const evzk_chubby_answer *a,
                    void *arg)
{
    int k = (int)(intptr_t)arg, i = chubbies.op[k].handle - 1;
    int proc = chubby_plan_of(i)->proc;

    sim_say("handle %d: operation %d: %s%s", i, k, evzk_errname(rc),
            a->unknown ? ", perhaps" : "");
    process_heard(proc, "an operation's callback");
    if (chubbies.of[i].h != handle)
        sim_violation("handle %d: operation %d ends behind it", i, k);
    chubby_done_told(k, rc, a);
    if (rc == EVZK_OK)
        act_inside(i, chubby_plan_of(i)->in_done, (int)chubbies.op[k].act);
    process_callback(proc);
}

static int call(int i, int k)
{
    struct chubby_handle *h = &chubbies.of[i];
    const struct chubby_op *op = &chubbies.op[k];
    const char *sequencer = chubbies.of[op->of].sequencer;
    void *arg = (void *)(intptr_t)k;
    char data[8];

    snprintf(data, sizeof data, "s%02d", k);
    switch ((int)op->act) {
    case ACT_GET:
    case ACT_GET_LATEST:
        return evzk_chubby_get(h->h, op->act == ACT_GET_LATEST, on_done, arg);
    case ACT_STAT:
        return evzk_chubby_get_stat(h->h, true, on_done, arg);
    case ACT_READ_DIR:
        return evzk_chubby_read_dir(h->h, on_done, arg);
    case ACT_SET:
    case ACT_SET_GEN:
        return evzk_chubby_set(h->h, op->gen, data, 3, on_done, arg);
    case ACT_DELETE:
        return evzk_chubby_delete(h->h, on_done, arg);
    case ACT_ACQUIRE:
        return evzk_chubby_acquire(h->h, EVZK_CHUBBY_EXCLUSIVE, on_done, arg);
    case ACT_SHARE:
        return evzk_chubby_acquire(h->h, EVZK_CHUBBY_SHARED, on_done, arg);
    case ACT_TRY:
        return evzk_chubby_try_acquire(h->h, EVZK_CHUBBY_EXCLUSIVE, on_done,
                                       arg);
    case ACT_RELEASE:
        return evzk_chubby_release(h->h, on_done, arg);
    case ACT_SET_SEQUENCER:
        return evzk_chubby_set_sequencer(h->h, sequencer, on_done, arg);
    case ACT_CHECK_SEQUENCER:
        return evzk_chubby_check_sequencer(h->h, sequencer, on_done, arg);
    default:
        return EVZK_ERR_INTERNAL;
    }
}

static void note_begun(int i, struct chubby_op *op)
{
    struct chubby_handle *h = &chubbies.of[i];

    if (op->act == ACT_RELEASE) {
        h->hold.clean = true;
        h->releasing = true;
        if (evzk_chubby_held(h->h))
            sim_violation("handle %d: released, and held", i);
    }
    if (op->act == ACT_ACQUIRE || op->act == ACT_SHARE || op->act == ACT_TRY)
        h->acquiring = true;
}

static void operate(int i, enum chubby_act act, int of)
{
    int file = chubby_plan_of(i)->file, proc = chubby_plan_of(i)->proc;
    const struct chubby_state *now = chubby_now(file);
    enum chubby_verdict want = chubby_verdict(i, act);
    struct chubby_handle *h = &chubbies.of[i];
    int k = chubbies.n_ops, rc;
    struct chubby_op *op = &chubbies.op[k];

    if (k == OPS || ((act == ACT_SET_SEQUENCER || act == ACT_CHECK_SEQUENCER) &&
                     !chubbies.of[of].sequencer[0]))
        return;
    *op = (struct chubby_op){.handle = i + 1,
                             .act = act,
                             .of = of,
                             .gen = act == ACT_SET_GEN ? h->gen : -1,
                             .under = evzk_chubby_token(h->h),
                             .by = chubby_sequenced_by(i),
                             .bare = !chubby_has_contender(file),
                             .rival = chubby_has_rival(file, 1),
                             .in_doubt = process_in_doubt(proc),
                             .doubts = process_doubts(proc),
                             .forced = operator_deletions(),
                             .begun = sim_now(),
                             .sure = now ? now->mzxid : 0};
    process_call_begins(proc);
    rc = call(i, k);
    process_call_ends(proc);
    sim_say("handle %d: operation %d begins: %s", i, k, evzk_errname(rc));
    if (rc == EVZK_OK && want == REFUSED)
        sim_violation("handle %d: operation %d is taken", i, k);
    if (rc == EVZK_ERR_STATE
            ? want == TAKEN && !chubby_rc_ok(i, EVZK_ERR_NODEGONE) &&
                  !ens_shut(proc) /* The handle becomes invalid. */
            : !process_may_return(proc, rc))
        sim_violation("handle %d: operation %d: %s", i, k, evzk_errname(rc));
    if (rc == EVZK_OK) {
        chubbies.n_ops++;
        note_begun(i, op);
    }
}

/* The first one of each handle: rules tell it from no other. */
static void give_sequencer(int i)
{
    struct chubby_handle *h = &chubbies.of[i];
    bool held = evzk_chubby_held(h->h);
    int rc;

    if (h->sequencer[0])
        return;
    rc = evzk_chubby_get_sequencer(h->h, h->sequencer, sizeof h->sequencer);
    if (rc != (held ? EVZK_OK : EVZK_ERR_STATE))
        sim_violation("handle %d: GetSequencer: %s", i, evzk_errname(rc));
    if (rc == EVZK_OK)
        h->sequencer_czxid = (int64_t)evzk_chubby_token(h->h);
    if (rc == EVZK_OK)
        chubby_look(); /* The lock may be lost already. */
    else
        h->sequencer[0] = '\0';
}

/* Has the handle asked the leader about that sequencer before? */
static bool was_checked(int i, int of)
{
    for (int k = 0; k < chubbies.n_ops; k++) {
        const struct chubby_op *op = &chubbies.op[k];

        if (op->handle == i + 1 && op->of == of && op->told &&
            op->act == ACT_CHECK_SEQUENCER && op->rc == EVZK_OK)
            return true;
    }
    return false;
}

/* A sequencer that was found valid stays known while the handle is connected.
 */
static void note_seen(int i, int of, int rc)
{
    int conn = wire_conn_of(chubby_plan_of(i)->proc);
    uint64_t born = conn < 0 ? 0 : wire_born(conn);
    struct chubby_handle *h = &chubbies.of[i];

    if (rc == EVZK_ERR_STATE && born && h->seen_by[of] == born &&
        process_is_sure(chubby_plan_of(i)->proc) && !chubbies.forged)
        sim_violation("handle %d: a sequencer that was seen is unknown", i);
    if (rc == EVZK_OK)
        h->seen_by[of] = born;
}

static void check_seen(int i, int of)
{
    const struct chubby_handle *from = &chubbies.of[of];
    int rc;

    if (!from->sequencer[0])
        return;
    rc = evzk_chubby_check_seen(chubbies.of[i].h, from->sequencer);
    sim_say("handle %d: check_seen: %s", i, evzk_errname(rc));
    if (rc == EVZK_OK && !was_checked(i, of))
        sim_violation("handle %d: a sequencer is seen valid, and not known", i);
    if (rc == EVZK_ERR_NODEGONE && !from->sequencer_gone && !chubbies.forged &&
        !chubby_gone(chubbies.of[i].instance))
        sim_violation("handle %d: a sequencer is seen as not valid, and is", i);
    if (rc != EVZK_OK && rc != EVZK_ERR_NODEGONE && rc != EVZK_ERR_STATE &&
        !process_may_return(chubby_plan_of(i)->proc, rc))
        sim_violation("handle %d: check_seen: %s", i, evzk_errname(rc));
    note_seen(i, of, rc);
}

static void end_it(int i, enum chubby_act act)
{
    struct chubby_handle *h = &chubbies.of[i];
    enum chubby_verdict want = chubby_verdict(i, act);
    int proc = chubby_plan_of(i)->proc, rc;

    process_call_begins(proc);
    rc = act == ACT_POISON ? evzk_chubby_poison(h->h) : evzk_chubby_close(h->h);
    process_call_ends(proc);
    sim_say("handle %d: %s: %s", i, act == ACT_POISON ? "poison" : "close",
            evzk_errname(rc));
    if (want != EITHER || (rc != EVZK_OK && rc != EVZK_ERR_STATE)) {
        if (rc != (want == TAKEN ? EVZK_OK : EVZK_ERR_STATE))
            sim_violation("handle %d: a close: %s", i, evzk_errname(rc));
    }
    if (rc == EVZK_OK && act == ACT_POISON)
        h->poisoned = true;
    if (rc == EVZK_OK && act == ACT_CLOSE) {
        h->closes = h->hold.clean = true;
        h->closed_at = sim_now();
    }
}

static void act(int i, enum chubby_act what, int of)
{
    switch ((int)what) {
    case ACT_NONE:
        return;
    case ACT_GIVE_SEQUENCER:
        give_sequencer(i);
        return;
    case ACT_CHECK_SEEN:
        check_seen(i, of);
        return;
    case ACT_POISON:
    case ACT_CLOSE:
        end_it(i, what);
        return;
    case ACT_FREE:
        drop(i);
        return;
    default:
        operate(i, what, of);
        return;
    }
}

static void do_it(intptr_t arg)
{
    int i = (int)arg / DOES;
    const struct chubby_does *does = &chubby_plan_of(i)->does[arg % DOES];

    if (chubbies.of[i].h)
        act(i, does->act, does->of);
}

static void close_it(intptr_t i)
{
    const struct chubby_handle *h = &chubbies.of[i];

    if (h->h && !chubby_waits())
        act((int)i, ACT_CLOSE, 0);
    else if (!h->over) /* The handle opens late, or users wait. */
        scene_timer_set(AGAIN_US, chubby_plan_of((int)i)->proc, close_it, i);
}

static void open_it(intptr_t arg)
{
    int i = (int)arg, proc = chubby_plan_of(i)->proc, rc;
    const struct chubby_plan *plan = chubby_plan_of(i);
    char data[8];
    const evzk_acl acl = {EVZK_PERM_ALL & ~EVZK_PERM_ADMIN, "world", "anyone"};
    const evzk_chubby_options opt = {.create = plan->create,
                                     .ephemeral = plan->ephemeral,
                                     .read_only = plan->read_only,
                                     .children = plan->children,
                                     .lock_events = plan->lock_events,
                                     .lock_delay_ms = plan->delay_ms,
                                     .timeout_ms = plan->timeout_ms,
                                     .acl = plan->own_acl ? &acl : NULL,
                                     .acl_count = plan->own_acl,
                                     .data = plan->create ? data : NULL,
                                     .data_len = plan->create ? 2 : 0};

    if (chubbies.of[i].begun || chubbies.of[i].over)
        return;
    if (process_opening(proc)) {
        scene_timer_set(AGAIN_US, proc, open_it, arg);
        return;
    }
    snprintf(data, sizeof data, "h%d", i);
    process_call_begins(proc);
    rc = evzk_chubby_open(process_of(proc)->s, chubby_name(plan->file), &opt,
                          on_event, (void *)arg, &chubbies.of[i].h);
    process_call_ends(proc);
    sim_say("handle %d opens: %s", i, evzk_errname(rc));
    if (!process_may_return(proc, rc))
        sim_violation("handle %d: an open: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_NOMEM) {
        scene_timer_set(AGAIN_US, proc, open_it, arg);
        return;
    }
    chubbies.of[i].begun = true;
    chubbies.of[i].begun_at = sim_now();
    chubby_look();
    chubbies.of[i].fronts =
        chubbies.fronts[plan->file] - (chubbies.front[plan->file][0] != 0);
    if (rc != EVZK_OK)
        over(i);
}

static void after(int ms, int proc, void (*fn)(intptr_t arg), intptr_t arg)
{
    if (ms)
        scene_timer_set(ms * INT64_C(1000), proc, fn, arg);
}

static void plan_handle(int i)
{
    const struct chubby_plan *plan = chubby_plan_of(i);

    chubbies.of[i].over = !plan->open_ms;
    if (!plan->open_ms)
        return;
    after(plan->open_ms, plan->proc, open_it, i);
    for (int k = 0; k < DOES; k++)
        after(plan->does[k].ms, plan->proc, do_it, i * DOES + k);
    after(plan->close_ms ? plan->close_ms : CLOSE_MS, plan->proc, close_it, i);
}

void chubby_begin(const struct sim_scene *sc)
{
    static const struct ens_config servers = {.servers = 3,
                                              .tick_ms = 100,
                                              .commit_us = 2000,
                                              .link_us = 500,
                                              .patience_us = 500 * 1000};
    struct process_config cfg = {.timeout_ms = 1000};

    memset(&chubbies, 0, sizeof chubbies);
    chubbies.own = sc->own;
    cfg.chroot = chubbies.own->chroot ? "/r" : NULL;
    cfg.make_chroot = chubbies.own->chroot && !chubbies.own->rootless;
    cfg.window = chubbies.own->window;
    scene_unhook();
    ens_begin(&servers);
    chubby_others_begin();
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, p == 0 ? FOLLOWER_1 : p == 1 ? LEADER : FOLLOWER_2);
        process_open(p, &cfg);
    }
    for (int i = 0; i < HANDLES; i++)
        plan_handle(i);
    chubby_others_plan();
}

void chubby_check(void)
{
    if (ens_has_changed(&chubbies.looked))
        chubby_look();
    chubby_check_held();
    chubby_check_due();
    processes_check();
}

void chubby_check_end(void)
{
    chubby_check_marks();
    processes_check_end();
}

/* A handle that is closed, or whose session has ended. */
bool chubby_done(void)
{
    for (int i = 0; i < HANDLES; i++) {
        if (!chubbies.of[i].over || chubbies.of[i].h)
            return false;
    }
    return processes_gone();
}

/* The explorer's calls. */

const char *const chubby_calls[] = {
    "free", "close",   "poison",        "release",       "get",
    "set",  "acquire", "set-sequencer", "close-session", NULL};
enum {
    FREE,
    CLOSE,
    POISON,
    RELEASE,
    GET,
    SET,
    ACQUIRE,
    SEQUENCER,
    CLOSE_SESSION
};

static bool close_session(int proc)
{
    if (!process_of(proc)->s || process_of(proc)->closing)
        return false;
    chubbies.early[proc] = true;
    for (int i = 0; i < HANDLES; i++)
        chubbies.unclean =
            chubbies.unclean ||
            (chubby_plan_of(i)->proc == proc && chubbies.of[i].begun);
    process_close(proc);
    for (int i = 0; i < HANDLES; i++) {
        if (chubby_plan_of(i)->open_ms && chubby_plan_of(i)->proc == proc &&
            !chubbies.of[i].h)
            over(i);
    }
    return true;
}

/* A handle that has given out a sequencer; -1: none has. */
static int giver(void)
{
    for (int i = 0; i < HANDLES; i++) {
        if (chubbies.of[i].sequencer[0])
            return i;
    }
    return -1;
}

/* Calls that are surely refused are made in some states only. */
static bool call_on(int i, unsigned which)
{
    static const enum chubby_act acts[] = {
        [FREE] = ACT_FREE,       [CLOSE] = ACT_CLOSE,
        [POISON] = ACT_POISON,   [RELEASE] = ACT_RELEASE,
        [GET] = ACT_GET_LATEST,  [SET] = ACT_SET,
        [ACQUIRE] = ACT_ACQUIRE, [SEQUENCER] = ACT_SET_SEQUENCER};
    const struct chubby_handle *h = &chubbies.of[i];
    enum chubby_act what = acts[which];

    if (what != ACT_FREE && chubby_verdict(i, what) == REFUSED &&
        (h->ended || h->closes || !h->opened))
        return false;
    if (what == ACT_SET_SEQUENCER && giver() < 0)
        return false;
    act(i, what, what == ACT_SET_SEQUENCER ? giver() : 0);
    return true;
}

bool chubby_call(int proc, unsigned which)
{
    if (which == CLOSE_SESSION)
        return close_session(proc);
    for (int i = 0; i < HANDLES; i++) {
        if (chubbies.of[i].h && chubby_plan_of(i)->proc == proc &&
            call_on(i, which))
            return true;
    }
    return false;
}
