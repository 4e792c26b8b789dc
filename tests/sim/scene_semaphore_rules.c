/* The rules of semaphores, asked after every step against the true tree.
 *
 * A lease is made only while fewer than n stand, by the first in the queue of
 * locks.  At no moment do more attempts hold a lease, as they say, than there
 * may be.  A lease that is told stands in the tree, and its token is its czxid;
 * one that was given back has gone, and so has all of an attempt that was
 * canceled.  One process at a time watches the leases.  When a lease is free, a
 * waiter gets it in a while.
 *
 * How it can fail: a lease is told from another by its czxid, and an attempt's
 * by its data.  What an operator has deleted or copied counts for nobody. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "leases.h"
#include "processes.h"
#include "scene.h"
#include "scene_semaphore.h"

enum {
    KIDS = 48,
    HEARD_US = 3 * 1000 * 1000 /* A session's time-out, and a look. */
};

const evzk_acl sem_acl = {EVZK_PERM_ALL & ~EVZK_PERM_ADMIN, "world", "anyone"};

static uint32_t n_of(int i)
{
    return sem_plan(i)->leases ? sem_plan(i)->leases : 1;
}

/* The greatest n of all attempts. */
static uint32_t most(void)
{
    uint32_t n = 0;

    for (int i = 0; i < ATTEMPTS; i++) {
        if (sem_plan(i)->used && n_of(i) > n)
            n = n_of(i);
    }
    return n;
}

static bool number_of(const char *name, const char *mark, int32_t *n)
{
    const char *at = strstr(name, mark);

    return at && sscanf(at + strlen(mark), "%" SCNd32, n) == 1;
}

/* Does a session own it?  An operator's znodes are nobody's. */
static bool is_owned(const char *dir, const char *name)
{
    struct ens_seen seen;
    char path[SEM_ROOM];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return ens_look(path, &seen) && seen.owner;
}

/* Has the attempt that made this lock given its turn away, and its delete is
 * still to come, or was refused?  The next lock of that session knows.  Written
 * over, the znode does not say which attempt made it. */
static bool is_left_over(const char *name, int64_t session)
{
    struct ens_seen seen;
    char path[SEM_ROOM];
    bool any = false;

    snprintf(path, sizeof path, "%s/%s", sems.locks, name);
    if (!ens_look(path, &seen) || seen.owner != session)
        return false;
    for (int i = 0; i < ATTEMPTS && !any; i++)
        any = sem_plan(i)->used && (sems.of[i].acquired || sems.of[i].over) &&
              sem_plan(i)->proc == process_with(session) &&
              (seen.version > 0 || (seen.len == 1 && seen.data[0] - '0' == i));
    return any;
}

/* The same, of a turn that was lost with the lease. */
static bool is_lost_turn(const char *name, int64_t session)
{
    struct ens_seen seen;
    char path[SEM_ROOM];
    int proc = process_with(session);

    snprintf(path, sizeof path, "%s/%s", sems.locks, name);
    return ens_look(path, &seen) && seen.owner == session && proc >= 0 &&
           process_has_lapsed(proc) && ens_refused(proc);
}

bool sem_is_kazoo(void) { return sems.own->dialect == EVZK_DIALECT_KAZOO; }

static const char *lock_mark(void)
{
    return sem_is_kazoo() ? "__lock__" : "-lock-";
}

/* A lease of Kazoo's has no number. */
static bool is_lease(const char *name, int32_t *number)
{
    *number = -1;
    return sem_is_kazoo() || number_of(name, "-lease-", number);
}

/* Is the lock of this number there, and first?  An operator may have made the
 * directory anew, with lower numbers. */
static bool has_turn(int32_t number, int64_t session)
{
    const char *names[KIDS];
    size_t n = ens_children(sems.locks, names, KIDS);
    bool there = false;
    int32_t other;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (!number_of(names[i], lock_mark(), &other))
            continue;
        if (other < number && !operator_deleted_any() &&
            is_owned(sems.locks, names[i]) &&
            !is_left_over(names[i], session) &&
            !is_lost_turn(names[i], session))
            return false;
        there = there || other == number;
    }
    return there;
}

/* The same, of a lease without a number: is a lock of that session first? */
static bool is_first(int64_t session, bool past_left_overs)
{
    const char *names[KIDS], *first = NULL;
    size_t n = ens_children(sems.locks, names, KIDS);
    struct ens_seen seen;
    char path[SEM_ROOM];
    int32_t number, least = 0;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (number_of(names[i], lock_mark(), &number) &&
            (!first || number < least) && is_owned(sems.locks, names[i]) &&
            !(past_left_overs && is_left_over(names[i], session))) {
            first = names[i];
            least = number;
        }
    }
    if (!first || operator_deleted_any())
        return operator_deleted_any();
    snprintf(path, sizeof path, "%s/%s", sems.locks, first);
    return ens_look(path, &seen) && seen.owner == session;
}

/* Its own may be one that is about to go. */
static bool has_first_turn(int64_t session)
{
    return is_first(session, false) || is_first(session, true);
}

/* Was this made with the ACL that was given? */
static void check_acl(const char *path)
{
    if (sems.own->own_acl && ens_perms(path) >= 0 &&
        ens_perms(path) != (int)sem_acl.perms)
        sim_violation("%s has another ACL", path);
}

/* Other libraries' locks are not of an attempt, and have no such data. */
static void check_lock(const char *name)
{
    struct ens_seen seen;
    char path[SEM_ROOM];

    snprintf(path, sizeof path, "%s/%s", sems.locks, name);
    if (ens_look(path, &seen) && seen.owner && seen.version == 0 &&
        seen.len == 1 && seen.data[0] >= '0' && seen.data[0] < '0' + ATTEMPTS)
        check_acl(path);
}

static void check_dirs(void)
{
    if (sems.own->stands || operator_deleted_any())
        return;
    check_acl(sems.path);
    check_acl(sems.locks);
    check_acl(sems.leases);
}

static void check_new(const struct lease_seen *l, const char *name,
                      uint32_t others)
{
    int32_t number;

    if (others >= n_of(l->attempt))
        sim_violation("attempt %d takes a lease beside %d others", l->attempt,
                      (int)others);
    if (!is_lease(name, &number) ||
        !(number < 0 ? has_first_turn(l->owner) : has_turn(number, l->owner)))
        sim_violation("attempt %d takes a lease out of its turn", l->attempt);
}

/* Does a lock of the attempt stand? */
bool sem_has_lock(int i)
{
    const struct process *p = process_of(sem_plan(i)->proc);
    const char *names[KIDS];
    size_t n = ens_children(sems.locks, names, KIDS);
    struct ens_seen seen;
    char path[SEM_ROOM];

    for (size_t k = 0; k < n && k < KIDS; k++) {
        snprintf(path, sizeof path, "%s/%s", sems.locks, names[k]);
        if (ens_look(path, &seen) && p->n_ids > 0 &&
            seen.owner == p->ids[p->n_ids - 1] && seen.len == 1 &&
            seen.data[0] == '0' + i)
            return true;
    }
    return false;
}

struct lease_seen *sem_lease_of(int64_t czxid)
{
    for (int64_t i = 0; i < sems.n_seen; i++) {
        if (sems.seen[i].czxid == czxid)
            return &sems.seen[i];
    }
    return NULL;
}

static void see(const char *name, uint32_t others)
{
    struct lease_seen *l;
    struct ens_seen seen;
    char path[SEM_ROOM];

    snprintf(path, sizeof path, "%s/%s", sems.leases, name);
    if (!ens_look(path, &seen))
        return;
    l = sem_lease_of(seen.czxid);
    if (!l && sems.n_seen < LEASES_SEEN) {
        l = &sems.seen[sems.n_seen++];
        l->czxid = seen.czxid;
        l->owner = seen.owner;
        l->attempt = seen.owner && seen.len == 1 ? seen.data[0] - '0' : -1;
        if (l->attempt >= 0 && l->attempt < ATTEMPTS)
            check_new(l, name, others);
        if (l->attempt >= 0)
            check_acl(path);
    }
    if (l)
        l->stands = true;
}

/* How many leases stand; `owned`: that a session owns. */
static uint32_t count(bool owned)
{
    const char *names[KIDS];
    size_t n = ens_children(sems.leases, names, KIDS);
    uint32_t leases = 0;
    int32_t number;

    for (size_t i = 0; i < n && i < KIDS; i++)
        leases += is_lease(names[i], &number) &&
                  (!owned || is_owned(sems.leases, names[i]));
    return leases;
}

static void look(void)
{
    const char *names[KIDS];
    size_t n = ens_children(sems.leases, names, KIDS);

    for (int64_t i = 0; i < sems.n_seen; i++)
        sems.seen[i].stands = false;
    for (size_t i = 0; i < n && i < KIDS; i++)
        see(names[i], count(true) - 1);
    n = ens_children(sems.locks, names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        sems.foreign = sems.foreign || strstr(names[i], "__WRIT__") ||
                       strstr(names[i], "__lock__");
        check_lock(names[i]);
    }
    check_dirs();
}

/* An operator, or the servers, have taken the lease away before its time. */
bool sem_is_robbed(const struct attempt *a)
{
    const struct lease_seen *l = sem_lease_of((int64_t)a->token);

    return operator_deleted((int64_t)a->token) ||
           operator_copied((int64_t)a->token) ||
           (l && session_forced(l->owner));
}

static void check_lease(int i)
{
    const struct attempt *a = &sems.of[i];

    if (a->p)
        lease_matches(sem_plan(i)->proc, a->lease, evzk_semaphore_held(a->p),
                      a->token, "attempt", i);
}

void semaphore_leases(int proc)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (sem_plan(i)->used && sem_plan(i)->proc == proc)
            check_lease(i);
    }
}

/* A lease that is held stands, unless an operator has taken the lease away; and
 * its holder hears of that. */
static void check_stands(int i)
{
    struct attempt *a = &sems.of[i];
    const struct lease_seen *l = sem_lease_of((int64_t)a->token);
    int proc = sem_plan(i)->proc;

    if (!a->held || !sem_is_robbed(a))
        a->robbed_since = 0;
    else if (!a->robbed_since || process_was_frozen(proc, a->robbed_since) ||
             process_lacked_memory_since(proc, a->robbed_since))
        a->robbed_since = sim_now();
    else if (sim_now() - a->robbed_since > HEARD_US)
        sim_violation("attempt %d is held, long after it was taken away", i);
    if (a->held && !sem_is_robbed(a) && !(l && l->stands))
        sim_violation("attempt %d is held, and its lease is gone", i);
}

/* Holders whose leases were made before this one's. */
static uint32_t held_before(int i)
{
    uint32_t n = 0;

    for (int k = 0; k < ATTEMPTS; k++)
        n += sems.of[k].held && !sem_is_robbed(&sems.of[k]) &&
             sems.of[k].token < sems.of[i].token;
    return n;
}

static void look_at(int i)
{
    struct attempt *a = &sems.of[i];
    int before;

    a->held = false;
    if (!a->p)
        return;
    before = sim_enter(sem_plan(i)->proc);
    a->held = evzk_semaphore_held(a->p);
    if (a->held != (evzk_semaphore_lease_ms(a->p) > 0))
        sim_violation("attempt %d: held, without a time", i);
    check_lease(i);
    sim_leave(before);
}

static void check_held(void)
{
    for (int i = 0; i < ATTEMPTS; i++)
        look_at(i);
    for (int i = 0; i < ATTEMPTS; i++) {
        check_stands(i);
        if (sems.of[i].held && !sem_is_robbed(&sems.of[i]) &&
            held_before(i) >= n_of(i))
            sim_violation("attempt %d holds one of too many leases", i);
    }
}

bool sem_is_passed(int i)
{
    if (most() > 1 || sem_is_robbed(&sems.of[i]))
        return false;
    for (int k = 0; k < ATTEMPTS; k++) {
        if (k != i && sems.of[k].token > sems.of[i].token)
            return true;
    }
    return false;
}

/* Has a lock that is not, or not only, this attempt's. */
static bool has_others(int i)
{
    const char *names[KIDS];
    size_t n = ens_children(sems.locks, names, KIDS);
    struct ens_seen seen;
    char path[SEM_ROOM];

    if (n != 1)
        return n > 1;
    snprintf(path, sizeof path, "%s/%s", sems.locks, names[0]);
    return ens_look(path, &seen) && (seen.len != 1 || seen.data[0] != '0' + i);
}

/* Asked while it tries: what was so at some time excuses BUSY. */
static void note_crowd(uint32_t leases)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (sem_plan(i)->try_once && sems.of[i].begun && !sems.of[i].end &&
            !sems.of[i].crowded)
            sems.of[i].crowded = leases >= n_of(i) || has_others(i);
    }
}

static bool is_waiting(int i)
{
    const struct attempt *a = &sems.of[i];
    const struct process *p = process_of(sem_plan(i)->proc);

    return a->p && a->begun && !a->acquired && !a->canceled && !a->end &&
           p->s && !p->closing;
}

static void note_cuts(void)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (sems.of[i].p && !process_is_connected(sem_plan(i)->proc))
            sems.of[i].cut = true;
    }
}

/* Its process could not find, or delete, the lock of an attempt that is over:
 * the servers hang up at that.  The lock stands as long as the session. */
static bool is_barred(void)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (sems.of[i].end && ens_shut(sem_plan(i)->proc) && sem_has_lock(i))
            return true;
    }
    return false;
}

/* An attempt that waits gets a lease that is free; one that gives up, or gives
 * back, is told. */
void semaphore_owes(int proc, struct sim_debt *debt)
{
    bool shut = sems.own->denied || sems.own->hidden ||
                sems.own->above_denied || sems.own->seal_ms || is_barred();
    uint32_t leases = count(false);

    for (int i = 0; i < ATTEMPTS; i++) {
        const struct attempt *a = &sems.of[i];

        if (!a->p || sem_plan(i)->proc != proc || a->end)
            continue;
        sim_owe(debt, is_waiting(i) && !shut && leases < n_of(i),
                "a lease is free, and an attempt waits", i);
        sim_owe(debt, a->canceled, "an attempt was canceled, and does not end",
                i);
        sim_owe(debt, a->released, "a lease is given back, and it was not told",
                i);
        sim_owe(debt, a->doubts_it && !a->released && !sem_is_robbed(a),
                "a lease is out of doubt, and it was not told", i);
    }
    debt->paid = (uint64_t)sems.n_seen;
}

/* A time-out is told in time, whether the servers answer or not; a cancel waits
 * for the proof. */
static void check_time(int i)
{
    const struct attempt *a = &sems.of[i];
    int64_t due = a->since + in_us(sem_plan(i)->timeout_ms);

    if (sem_plan(i)->timeout_ms && a->p && !a->acquired && !a->canceled &&
        process_is_late(sem_plan(i)->proc, due))
        sim_violation("attempt %d is to end, and is not told so", i);
}

void semaphore_check(void)
{
    if (ens_has_changed(&sems.looked))
        look();
    note_crowd(count(false));
    note_cuts();
    check_held();
    for (int i = 0; i < ATTEMPTS; i++)
        check_time(i);
    processes_check();
}

void semaphore_check_end(void) { processes_check_end(); }
