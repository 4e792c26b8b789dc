/* The rules of Chubby's interface for what is told at last: once no fault is at
 * work, and the session is connected, an event that a handle owes its user
 * comes soon, and each operation ends.
 *
 * As long as any handle owes an event, or an end, no user closes one: so each
 * fault is followed by the rest that these rules are about.
 *
 * How it can fail: what is due is read off the tree as it is now.  A change
 * that is undone before a handle hears of it is due to nobody. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene.h"
#include "scene_chubby.h"
#include "wire.h"

enum {
    LATE_US = 1000 * 1000,
    GRANT_US = 250 * 1000, /* Shorter than a lock-delay. */
    DOUBT_US = 20 * 1000,
    OP_US = 50 * 1000, /* So long a user waits for an operation. */
    PAUSE_US = 120 * 1000
};

/* What the servers refuse is asked again in pauses of a tenth of a second. */
static bool is_refused(int proc)
{
    return ens_throttled(proc) && sim_now() - ens_throttled_at(proc) < PAUSE_US;
}

static bool is_calm(int proc)
{
    return process_is_connected(proc) && !process_in_doubt(proc) &&
           faults_healed_at() <= sim_now() && !sim_alloc_failing(proc) &&
           process_frozen_until(proc) < sim_now() && !is_refused(proc);
}

/* ---- Events. ---- */

/* No event tells that a file may not be read any more: the next connection
 * finds out.  A file that was made since may be read. */
static bool is_hidden(const struct chubby_handle *h, int proc)
{
    int conn = wire_conn_of(proc);

    return chubbies.hidden_at && h->instance == chubbies.hidden && conn >= 0 &&
           wire_born(conn) != chubbies.heard_by[proc];
}

static bool is_invalid(int i)
{
    const struct chubby_handle *h = &chubbies.of[i];
    const struct chubby_plan *plan = chubby_plan_of(i);

    return chubby_gone(h->instance) ||
           (plan->file == 0 && is_hidden(h, plan->proc)) ||
           (h->sequenced && chubbies.of[h->sequenced - 1].sequencer_gone);
}

/* The contents were written since the handle was opened, and told so last. */
static bool has_changed(const struct chubby_handle *h, int file)
{
    const struct chubby_state *now = chubby_now(file);

    return now && now->czxid == h->instance && now->version > 0 &&
           now->at > h->opened_at && now->at > h->contents_at;
}

static bool has_new_child(int i)
{
    return chubby_plan_of(i)->children && chubby_plan_of(i)->file == 0 &&
           chubbies.of[i].child != chubbies.child;
}

static bool has_new_front(int i)
{
    const struct chubby_handle *h = &chubbies.of[i];
    int file = chubby_plan_of(i)->file;

    return chubby_plan_of(i)->lock_events && chubbies.front[file][0] &&
           h->front_at < chubbies.front_at[file] && !chubbies.foreign &&
           !chubbies.forged;
}

static bool is_held(int i)
{
    int before = sim_enter(chubby_plan_of(i)->proc);
    bool held = evzk_chubby_held(chubbies.of[i].h);

    sim_leave(before);
    return held;
}

static bool has_conflict(int i)
{
    return chubby_plan_of(i)->lock_events && chubby_holds(i) && is_held(i) &&
           !chubbies.forged &&
           chubby_behind(i, true) > chubbies.of[i].hold.conflicts;
}

static bool is_due(int i, enum chubby_due what)
{
    const struct chubby_handle *h = &chubbies.of[i];
    const struct chubby_plan *plan = chubby_plan_of(i);

    if (!h->h || h->ended || h->closes || process_of(plan->proc)->closing)
        return false;
    if (what == DUE_OPENED || !h->opened)
        return what == DUE_OPENED && !h->opened;
    if (what == DUE_DOUBT)
        return h->jeopardy ? process_is_sure(plan->proc)
                           : process_in_doubt(plan->proc);
    if (h->invalid)
        return false;
    if (what == DUE_INVALID || is_invalid(i))
        return what == DUE_INVALID && is_invalid(i);
    switch (what) {
    case DUE_CONTENTS:
        return has_changed(h, plan->file);
    case DUE_CHILD:
        return has_new_child(i);
    case DUE_FRONT:
        return has_new_front(i);
    case DUE_CONFLICT:
        return has_conflict(i);
    case DUE_OPENED:
    case DUE_INVALID:
    case DUE_DOUBT:
    case DUES:
        break;
    }
    return false;
}

bool chubby_waits(void)
{
    for (int k = 0; k < chubbies.n_ops; k++) {
        const struct chubby_op *op = &chubbies.op[k];

        if (!op->told && op->due && sim_now() - op->begun > OP_US)
            return true;
    }
    for (int i = 0; i < HANDLES; i++) {
        for (int what = 0; what < DUES; what++) {
            if (is_due(i, (enum chubby_due)what))
                return true;
        }
    }
    return false;
}

void chubby_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < HANDLES; i++) {
        const struct chubby_handle *h = &chubbies.of[i];

        if (!chubby_plan_of(i)->open_ms || chubby_plan_of(i)->proc != proc)
            continue;
        for (int what = 0; what < DUES; what++)
            sim_owe(debt, is_due(i, (enum chubby_due)what),
                    "an event of a handle is not told", i);
        sim_owe(debt, h->h && h->closes && !h->ended,
                "a handle is closed, and does not end", i);
    }
    for (int k = 0; k < chubbies.n_ops; k++) {
        const struct chubby_op *op = &chubbies.op[k];

        sim_owe(debt,
                !op->told && op->due &&
                    chubby_plan_of(op->handle - 1)->proc == proc,
                "an operation does not end", k);
    }
}

/* True: since so long it is due, and could be told. */
static bool is_late(int64_t *since, bool due, int64_t most_us)
{
    if (!due) {
        *since = 0;
        return false;
    }
    if (!*since)
        *since = sim_now();
    return sim_now() - *since > most_us;
}

static void check_events(int i)
{
    static const char *const events[DUES] = {
        [DUE_OPENED] = "OPENED",
        [DUE_INVALID] = "INVALID",
        [DUE_CONTENTS] = "CONTENTS_CHANGED",
        [DUE_CHILD] = "an event of its child",
        [DUE_FRONT] = "LOCK_ACQUIRED",
        [DUE_CONFLICT] = "CONFLICT",
        [DUE_DOUBT] = "JEOPARDY or SAFE"};
    struct chubby_handle *h = &chubbies.of[i];
    int proc = chubby_plan_of(i)->proc;

    for (int what = 0; what < DUES; what++) {
        bool can = what == DUE_DOUBT ? process_frozen_until(proc) < sim_now()
                                     : is_calm(proc);

        if (is_late(&h->due[what], can && is_due(i, (enum chubby_due)what),
                    what == DUE_DOUBT ? DOUBT_US : LATE_US))
            sim_violation("handle %d: %s is not told", i, events[what]);
    }
}

/* ---- Operations. ---- */

static bool is_acquire(const struct chubby_op *op)
{
    return op->act == ACT_ACQUIRE || op->act == ACT_SHARE || op->act == ACT_TRY;
}

/* The session's contender is in front, and of this handle: another one of the
 * same session neither waits, nor holds the lock, nor has just let it go. */
static bool is_in_front(int i)
{
    const struct chubby_plan *plan = chubby_plan_of(i);
    const struct process *p = process_of(plan->proc);
    struct ens_seen seen;
    char path[240];

    snprintf(path, sizeof path, "%s/%s", chubby_side(plan->file),
             chubbies.front[plan->file]);
    if (!ens_look(path, &seen) || p->n_ids == 0 ||
        seen.owner != p->ids[p->n_ids - 1])
        return false;
    for (int k = 0; k < HANDLES; k++) {
        if (k != i && chubby_plan_of(k)->open_ms &&
            chubby_plan_of(k)->proc == plan->proc &&
            chubby_plan_of(k)->file == plan->file &&
            (chubbies.of[k].acquiring || chubbies.of[k].hold.token))
            return false;
    }
    return true;
}

/* Since when it is so that nothing keeps the operation from its end. */
static void check_op(int k)
{
    struct chubby_op *op = &chubbies.op[k];
    int i = op->handle - 1, proc = chubby_plan_of(i)->proc;
    int file = chubby_plan_of(i)->file;
    bool lock = is_acquire(op), empty = !chubby_has_contender(file);
    bool grant = lock && is_in_front(i) && !chubby_has_rival(file, HANDLES + 1);
    bool free = !lock || empty || grant;

    if (is_late(&op->due,
                free && is_calm(proc) && process_is_sure(proc) &&
                    !process_of(proc)->closing,
                grant && chubbies.old_at[file] < chubbies.front_at[file]
                    ? GRANT_US
                    : LATE_US))
        sim_violation("handle %d: operation %d does not end", i, k);
}

/* An open ends in time, and a handle that is closed before it is open at once,
 * whether the servers answer or not. */
static void check_open(int i)
{
    const struct chubby_handle *h = &chubbies.of[i];
    const struct chubby_plan *plan = chubby_plan_of(i);
    int64_t due = h->begun_at + plan->timeout_ms * INT64_C(1000);

    if (h->opened || h->ended || !h->begun)
        return;
    if ((plan->timeout_ms && process_is_late(plan->proc, due)) ||
        process_is_late(plan->proc, h->closed_at))
        sim_violation("handle %d: an open is to end, and is not told so", i);
}

void chubby_check_due(void)
{
    for (int i = 0; i < HANDLES; i++) {
        if (chubbies.of[i].h) {
            check_events(i);
            check_open(i);
        }
    }
    for (int k = 0; k < chubbies.n_ops; k++) {
        if (!chubbies.op[k].told)
            check_op(k);
        else
            chubbies.op[k].due = 0;
    }
}
