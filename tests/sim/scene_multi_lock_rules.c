/* The rules of multi-locks, asked after every step against the true tree.
 *
 * At no moment do two attempts hold one path, as they say, but for readers.
 * When an attempt is granted, every part of it stands in the tree, with its
 * czxid as the part's token; as long as the attempt says that it holds, every
 * part stands.  An attempt that was released, canceled or refused has left
 * nothing behind; of any other that has ended nothing is left in a while.  An
 * attempt that is not to queue again makes one znode for each part.
 *
 * How it can fail: an attempt's znodes are told from others by their data. What
 * an operator has deleted or copied counts for nobody. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_multi_lock.h"

enum { KIDS = 48 };

const char *multi_dir(int dir)
{
    static const char *const dirs[MULTI_DIRS] = {"/m/a", "/m/b", "/m/c"};

    return dirs[dir];
}

int multi_dir_of(char letter) { return tolower((unsigned char)letter) - 'a'; }

size_t multi_n(int i)
{
    return multi_plan(i)->single ? 1 : strlen(multi_plan(i)->parts);
}

static bool reads(int i, size_t part)
{
    return isupper((unsigned char)multi_plan(i)->parts[part]);
}

static int dir_of(int i, size_t part)
{
    return multi_dir_of(multi_plan(i)->parts[part]);
}

bool multi_held(int i)
{
    const struct multi_try *a = &multis.of[i];

    return a->p ? evzk_multi_lock_held(a->p) : evzk_lock_held(a->single);
}

static uint32_t lease_ms(const struct multi_try *a)
{
    return a->p ? evzk_multi_lock_lease_ms(a->p)
                : evzk_lock_lease_ms(a->single);
}

/* The tree. */

static struct multi_seen *find(int64_t czxid, int dir)
{
    for (int64_t i = 0; i < multis.n_seen; i++) {
        if (multis.seen[i].czxid == czxid && multis.seen[i].dir == dir)
            return &multis.seen[i];
    }
    return NULL;
}

static void see(int dir, const char *name)
{
    struct multi_seen *l;
    struct ens_seen seen;
    char path[160];

    multis.foreign = multis.foreign || strstr(name, "__WRIT__") ||
                     strstr(name, "__lock__") || strncmp(name, "_c_", 3) == 0;
    snprintf(path, sizeof path, "%s/%s", multi_dir(dir), name);
    if (!ens_look(path, &seen))
        return;
    l = find(seen.czxid, dir);
    if (!l && multis.n_seen < MULTI_SEEN) {
        l = &multis.seen[multis.n_seen++];
        l->czxid = seen.czxid;
        l->owner = seen.owner;
        l->dir = dir;
        l->attempt = seen.owner && seen.len == 1 ? seen.data[0] - '0' : -1;
    }
    if (l)
        l->stands = true;
}

static void look(void)
{
    const char *names[KIDS];

    for (int64_t i = 0; i < multis.n_seen; i++)
        multis.seen[i].stands = false;
    for (int dir = 0; dir < MULTI_DIRS; dir++) {
        size_t n = ens_children(multi_dir(dir), names, KIDS);

        for (size_t i = 0; i < n && i < KIDS; i++)
            see(dir, names[i]);
    }
}

/* An operator, or the servers, have taken the part away before its time. */
static bool is_robbed(int i, size_t part)
{
    int64_t czxid = (int64_t)multis.of[i].token[part];
    const struct multi_seen *l = find(czxid, dir_of(i, part));

    return operator_deleted(czxid) || operator_copied(czxid) ||
           (l && session_forced(l->owner));
}

static bool is_robbed_of_any(int i)
{
    for (size_t k = 0; k < multi_n(i); k++) {
        if (is_robbed(i, k))
            return true;
    }
    return false;
}

/* Holding. */

static void check_parts(int i)
{
    for (size_t k = 0; k < multi_n(i); k++) {
        const struct multi_seen *l =
            find((int64_t)multis.of[i].token[k], dir_of(i, k));

        if (!is_robbed(i, k) && !(l && l->stands))
            sim_violation("attempt %d: held, and its part %d is gone", i,
                          (int)k);
    }
}

static bool holds(int i)
{
    struct multi_try *a = &multis.of[i];
    int before;
    bool held;

    if (!multi_lives(i))
        return false;
    before = sim_enter(multi_plan(i)->proc);
    held = multi_held(i);
    if (held != (lease_ms(a) > 0))
        sim_violation("attempt %d: held, without a time", i);
    sim_leave(before);
    if (held)
        check_parts(i);
    return held;
}

static void check_pair(int i, int k)
{
    for (size_t x = 0; x < multi_n(i); x++) {
        for (size_t y = 0; y < multi_n(k); y++) {
            if (dir_of(i, x) == dir_of(k, y) && !(reads(i, x) && reads(k, y)) &&
                !is_robbed(i, x) && !is_robbed(k, y))
                sim_violation("%s is held by attempts %d and %d",
                              multi_dir(dir_of(i, x)), i, k);
        }
    }
}

static void check_held(void)
{
    bool held[MULTIS];

    for (int i = 0; i < MULTIS; i++) {
        held[i] = holds(i);
        for (int k = 0; k < i; k++) {
            if (held[i] && held[k])
                check_pair(i, k);
        }
    }
}

/* Leaving nothing. */

/* Of an attempt that is over, in a session that lives. */
static bool is_left(const struct multi_seen *l)
{
    int i = l->attempt;

    return i >= 0 && i < MULTIS && l->stands && !multi_lives(i) &&
           multis.of[i].begun && !operator_copied(l->czxid) &&
           !ens_shut(multi_plan(i)->proc); /* At the look for it, maybe. */
}

/* Is another znode in the part's directory that came before? */
static bool has_one_before(const struct multi_seen *own)
{
    for (int64_t k = 0; k < multis.n_seen; k++) {
        const struct multi_seen *l = &multis.seen[k];

        if (l != own && l->stands && l->dir == own->dir)
            return true;
    }
    return false;
}

/* Nobody else is in any directory of it. */
static bool has_way(int i)
{
    size_t own = 0;

    for (int64_t k = 0; k < multis.n_seen; k++) {
        const struct multi_seen *l = &multis.seen[k];

        if (l->stands && l->attempt == i && has_one_before(l))
            return false;
        own += l->stands && l->attempt == i;
    }
    return own == multi_n(i);
}

void multi_lock_owes(int proc, struct sim_debt *debt)
{
    for (int64_t k = 0; k < multis.n_seen; k++) {
        const struct multi_seen *l = &multis.seen[k];

        sim_owe(debt,
                is_left(l) && multi_plan(l->attempt)->proc == proc &&
                    !multis.own->seal_ms,
                "an attempt is over, and holds a part", l->attempt);
    }
    for (int i = 0; i < MULTIS; i++) {
        const struct multi_try *a = &multis.of[i];

        if (!multi_lives(i) || multi_plan(i)->proc != proc || a->end)
            continue;
        sim_owe(debt, a->canceled || a->released,
                "an attempt is to let go, and does not", i);
        sim_owe(debt, !a->granted && has_way(i), "an attempt waits for nobody",
                i);
        sim_owe(debt, a->suspended && !is_robbed_of_any(i),
                "an attempt is out of doubt, and it was not told", i);
    }
}

/* As of semaphores. */
static void check_time(int i)
{
    const struct multi_try *a = &multis.of[i];

    if (a->p && !a->granted && !a->canceled && !a->end &&
        process_is_late(multi_plan(i)->proc, a->due))
        sim_violation("attempt %d is to end, and is not told so", i);
}

void multi_lock_check(void)
{
    if (ens_has_changed(&multis.looked))
        look();
    check_held();
    for (int i = 0; i < MULTIS; i++)
        check_time(i);
    processes_check();
}

/* Nothing of the attempt's session may be left. */
static void check_none(int i, const char *what)
{
    const struct process *p = process_of(multi_plan(i)->proc);
    int64_t session = p->n_ids > 0 ? p->ids[p->n_ids - 1] : 0;

    for (int64_t k = 0; k < multis.n_seen; k++) {
        const struct multi_seen *l = &multis.seen[k];

        if (l->stands && l->attempt == i && l->owner == session &&
            !session_over(session))
            sim_violation("attempt %d: %s, and holds %s", i, what,
                          multi_dir(l->dir));
    }
}

/* The events. */

static bool session_ended(int proc)
{
    return process_any_session(proc, session_over);
}

static bool is_good_end(int i, int rc)
{
    const struct multi_plan *plan = multi_plan(i);
    const struct multi_try *a = &multis.of[i];

    switch (rc) {
    case EVZK_OK:
        return a->released;
    case EVZK_ERR_CANCELED:
        return a->canceled;
    case EVZK_ERR_TIMEOUT:
        return plan->timeout_ms > 0 && !a->canceled;
    case EVZK_ERR_BUSY:
        return plan->try_once && !a->canceled;
    case EVZK_ERR_CLOSED:
        return process_of(plan->proc)->closing;
    case EVZK_ERR_NODEGONE:
        return (a->granted && is_robbed_of_any(i)) ||
               ((plan->no_requeue || a->granted) && operator_deleted_any()) ||
               session_ended(plan->proc);
    case EVZK_ERR_EXPIRED:
        return (a->granted || plan->no_requeue) && session_ended(plan->proc);
    case EVZK_ERR_LEASE:
        return (a->granted || plan->no_requeue) &&
               process_has_lapsed(plan->proc);
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(plan->proc);
    case EVZK_ERR_SERVER:
        return ens_throttled(plan->proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(plan->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOAUTH:
        return ens_denied(plan->proc) || multis.own->denied ||
               multis.own->seal_ms;
    case EVZK_ERR_NOCHROOT:
        return multis.own->chroot != NULL;
    case EVZK_ERR_FOREIGN:
        return multis.foreign && !a->canceled;
    default:
        return false;
    }
}

static void check_token(int i, size_t part, uint64_t token)
{
    int dir = dir_of(i, part);
    const struct multi_seen *l = find((int64_t)token, dir);

    if (!l || l->attempt != i)
        sim_violation("attempt %d: its part %d has another's token", i,
                      (int)part);
    else if (!l->stands && !is_robbed(i, part) && !session_over(l->owner))
        sim_violation("attempt %d is granted, and its part %d is gone", i,
                      (int)part);
    if (token <= multis.last_alone[dir] && !is_robbed(i, part) &&
        !operator_deleted_any())
        sim_violation("attempt %d: the token of part %d is old", i, (int)part);
    if (!reads(i, part) && token > multis.last_alone[dir])
        multis.last_alone[dir] = token;
}

static void check_node(int i, size_t part)
{
    const struct multi_try *a = &multis.of[i];
    struct ens_seen seen;
    char path[160];

    if (!a->p || is_robbed(i, part))
        return;
    snprintf(path, sizeof path, "%s/%s", multi_dir(dir_of(i, part)),
             evzk_multi_lock_node(a->p, part));
    if (!ens_look(path, &seen) || (uint64_t)seen.czxid != a->token[part])
        sim_violation("attempt %d: its part %d is not %s", i, (int)part, path);
}

/* An operator has deleted its znode before, and it made another.  A process
 * that has never been in doubt, and had memory for each answer, knows of each
 * znode it made. */
static void check_queued_once(int i, size_t part)
{
    int proc = multi_plan(i)->proc;

    if (!multi_plan(i)->no_requeue || process_doubts(proc) ||
        process_lacked_memory(proc))
        return;
    for (int64_t k = 0; k < multis.n_seen; k++) {
        const struct multi_seen *l = &multis.seen[k];

        if (l->attempt == i && l->dir == dir_of(i, part) &&
            operator_deleted(l->czxid) &&
            (uint64_t)l->czxid < multis.of[i].token[part])
            sim_violation("attempt %d has queued in %s again", i,
                          multi_dir(l->dir));
    }
}

static void check_granted(int i)
{
    struct multi_try *a = &multis.of[i];

    process_certain(multi_plan(i)->proc, &a->doubts, "GRANTED");
    if (a->granted)
        sim_violation("attempt %d is granted twice", i);
    a->granted = true;
    if (!multi_held(i))
        sim_violation("attempt %d is granted, and not held", i);
    for (size_t k = 0; k < multi_n(i); k++) {
        a->token[k] =
            a->p ? evzk_multi_lock_token(a->p, k) : evzk_lock_token(a->single);
        check_token(i, k, a->token[k]);
        check_node(i, k);
        check_queued_once(i, k);
    }
}

/* A part is to blame for some errors, and for NOAUTH this one. */
static void check_blame(int i, int rc)
{
    const struct multi_try *a = &multis.of[i];
    size_t part = a->p ? evzk_multi_lock_failed_part(a->p) : 0;

    if (a->p && part > multi_n(i))
        sim_violation("attempt %d blames no part: %d", i, (int)part);
    if (a->p && part == multi_n(i) &&
        (rc == EVZK_ERR_BUSY || rc == EVZK_ERR_NOAUTH ||
         rc == EVZK_ERR_NODEGONE || rc == EVZK_ERR_FOREIGN))
        sim_violation("attempt %d: %s blames nobody", i, evzk_errname(rc));
    if (a->p && rc == EVZK_ERR_NOAUTH && !ens_denied(multi_plan(i)->proc) &&
        dir_of(i, part) != (multis.own->denied ? 1 : 0))
        sim_violation("attempt %d blames %s", i, multi_dir(dir_of(i, part)));
}

/* Told that nothing is left: a refusal is, unless the time is over first, or
 * the delete was refused. */
static bool proves_gone(int i, int rc)
{
    if (rc == EVZK_OK || rc == EVZK_ERR_CANCELED)
        return true;
    if (rc == EVZK_ERR_NOAUTH &&
        (multis.own->seal_ms || ens_denied(multi_plan(i)->proc)))
        return false;
    return multi_plan(i)->timeout_ms == 0 &&
           (rc == EVZK_ERR_BUSY || rc == EVZK_ERR_NOAUTH ||
            rc == EVZK_ERR_FOREIGN);
}

static void check_end(int i, evzk_multi_lock_event event, int rc)
{
    struct multi_try *a = &multis.of[i];

    a->end = event;
    a->rc = rc;
    if (!is_good_end(i, rc))
        sim_violation("attempt %d: %s with %s", i,
                      evzk_multi_lock_event_name(event), evzk_errname(rc));
    if ((event == EVZK_MULTI_LOCK_FAILED) == a->granted ||
        (event == EVZK_MULTI_LOCK_RELEASED) != a->released)
        sim_violation("attempt %d: its end is %s", i,
                      evzk_multi_lock_event_name(event));
    if (multi_held(i))
        sim_violation("attempt %d has ended, and is held", i);
    if (proves_gone(i, rc))
        check_none(i, evzk_multi_lock_event_name(event));
    check_blame(i, rc);
}

static void check_requeued(int i, int rc)
{
    if (multis.of[i].granted || multi_plan(i)->no_requeue ||
        multis.of[i].canceled ||
        (rc != EVZK_ERR_EXPIRED && rc != EVZK_ERR_NODEGONE &&
         !(rc == EVZK_ERR_LEASE && process_has_lapsed(multi_plan(i)->proc))))
        sim_violation("attempt %d: REQUEUED with %s", i, evzk_errname(rc));
}

void multi_told(int i, evzk_multi_lock_event event, int rc)
{
    struct multi_try *a = &multis.of[i];
    int proc = multi_plan(i)->proc;

    switch (event) {
    case EVZK_MULTI_LOCK_GRANTED:
        check_granted(i);
        return;
    case EVZK_MULTI_LOCK_SUSPENDED:
        process_doubtful(proc, &a->doubts, "SUSPENDED");
        if (a->suspended || !a->granted || a->released)
            sim_violation("attempt %d: SUSPENDED out of turn", i);
        a->suspended = true;
        return;
    case EVZK_MULTI_LOCK_RESUMED:
        process_certain(proc, &a->doubts, "RESUMED");
        if (!a->suspended || a->released)
            sim_violation("attempt %d: RESUMED out of turn", i);
        a->suspended = false;
        return;
    case EVZK_MULTI_LOCK_REQUEUED:
        check_requeued(i, rc);
        return;
    case EVZK_MULTI_LOCK_RELEASED:
    case EVZK_MULTI_LOCK_LOST:
    case EVZK_MULTI_LOCK_FAILED:
        check_end(i, event, rc);
        return;
    }
}

/* The end. */

void multi_check_left(int proc)
{
    if (!process_is_idle(process_of(proc)) || ens_denied(proc) ||
        ens_shut(proc)) /* At the look for it, maybe. */
        return;
    for (int i = 0; i < MULTIS; i++) {
        if (multi_plan(i)->parts && multi_plan(i)->proc == proc &&
            !multi_lives(i) && !multis.own->seal_ms)
            check_none(i, "over");
    }
}

void multi_lock_check_end(void) { processes_check_end(); }
