/* The rules of double barriers, asked after every step against the true tree.
 *
 * A round is what `ready` says: when it is written, all that it is for stand
 * there, and none of them was in another round.  A participant that is told
 * that it is inside is in a round; one that is told that all have left finds no
 * znode of its round.  A participant has one znode at most.
 *
 * How it can fail: a znode is told from another by its czxid, and an act's
 * znodes by their data, which the first look sees. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_double_barrier.h"

enum { KIDS = 48 };

struct db_world db;
SIM_KEEP(db)

struct db_node *db_node_of(int act)
{
    for (int64_t i = db.nodes - 1; i >= 0; i--) {
        if (db.node[i].act == act)
            return &db.node[i];
    }
    return NULL;
}

/* A participant's name, and nothing else: a GUID, the mark and a number. */
bool db_read_seq(const char *name, int32_t *seq)
{
    const size_t guid = sizeof DB_GUID - 1, mark = 4, number = 10;
    char again[16];

    if (strlen(name) < guid + mark + number ||
        strncmp(name + guid, "-in-", mark) != 0 ||
        sscanf(name + guid + mark, "%" SCNd32, seq) != 1)
        return false;
    for (size_t i = 0; i < guid; i++) {
        bool dash = DB_GUID[i] == '-';

        if (dash ? name[i] != '-' : !strchr("0123456789abcdef", name[i]))
            return false;
    }
    snprintf(again, sizeof again, "%010" PRId32, *seq);
    return strcmp(again, name + guid + mark) == 0;
}

static struct db_node *node_at(int64_t czxid)
{
    for (int64_t i = 0; i < db.nodes; i++) {
        if (db.node[i].czxid == czxid)
            return &db.node[i];
    }
    return NULL;
}

static void note(const char *name, const struct ens_seen *seen)
{
    struct db_node *n = &db.node[db.nodes];
    int act = seen->len == 1 ? seen->data[0] - '0' : -1;

    if (db.nodes == DB_NODES || strlen(name) >= sizeof n->name ||
        !db_read_seq(name, &n->seq))
        return;
    db.nodes++;
    db.changes++;
    strcpy(n->name, name);
    n->czxid = seen->czxid;
    n->owner = seen->owner;
    n->act = seen->owner && act >= 0 && act < DB_ACTS ? act : -1;
    for (struct db_node *o = db.node; n->act >= 0 && o < n; o++) {
        if (o->act == n->act && !o->died)
            sim_violation("act %d has two znodes", act + 1);
    }
}

/* Which of them stand. */
static void look_at_nodes(void)
{
    const char *names[KIDS];
    size_t n = ens_children(db.dir, names, KIDS);
    bool stands[DB_NODES] = {false};
    char path[64 + DB_NAME];

    for (size_t i = 0; i < n && i < KIDS; i++) {
        struct ens_seen seen;
        const struct db_node *node;

        snprintf(path, sizeof path, "%s/%s", db.dir, names[i]);
        if (!ens_look(path, &seen))
            continue;
        if (!node_at(seen.czxid))
            note(names[i], &seen);
        node = node_at(seen.czxid);
        if (node)
            stands[node - db.node] = true;
    }
    for (int64_t i = 0; i < db.nodes; i++) {
        if (!stands[i] && !db.node[i].died)
            db.node[i].died = ++db.changes;
    }
}

/* A copy was put in the place of a participant's znode, which had been looked
 * at before. */
static bool is_in_place(const struct db_node *copy)
{
    for (const struct db_node *o = db.node; o < copy; o++) {
        if (o->owner && strcmp(o->name, copy->name) == 0)
            return true;
    }
    return false;
}

/* A round is formed: all that `ready` is for are there.  Copies, which no
 * session owns, are none of them. */
static void check_round(int32_t last)
{
    uint32_t n = 0, acts = 0;

    db.rounds++;
    for (struct db_node *o = db.node; o < db.node + db.nodes; o++) {
        if (o->died || (int32_t)((uint32_t)o->seq - (uint32_t)last) > 0)
            continue; /* Numbers wrap. */
        n += o->owner || is_in_place(o);
        if (!o->owner)
            continue;
        if (o->round && !operator_deleted_any()) /* Or `ready` was. */
            sim_violation("%s is in two rounds", o->name);
        o->other_round = o->round;
        o->round = db.rounds;
        acts += o->act >= 0;
    }
    if (n < db.own->count)
        sim_violation("a round of %u is formed with %u",
                      (unsigned)db.own->count, (unsigned)n);
    if (acts > db.own->count)
        sim_violation("a round of %u is formed with %u participants",
                      (unsigned)db.own->count, (unsigned)acts);
}

void db_look(void)
{
    struct ens_seen seen, dir;
    char path[80], text[160];
    int32_t last;
    int64_t of;

    if (!ens_has_changed(&db.looked))
        return;
    look_at_nodes();
    snprintf(path, sizeof path, "%s/ready", db.dir);
    if (!ens_look(path, &seen)) {
        db.ready_mzxid = 0;
        return;
    }
    if (seen.mzxid == db.ready_mzxid)
        return;
    db.ready_mzxid = seen.mzxid;
    db.marred = db.marred || fault_wrote(seen.mzxid);
    if (seen.mzxid == db.made_mzxid || fault_made_ready(seen.mzxid) ||
        fault_wrote(seen.mzxid))
        return; /* By the scene, or by a fault. */
    snprintf(text, sizeof text, "%.*s", (int)seen.len, seen.data);
    if (sscanf(text, "evzk 1 %" SCNd32 " %" SCNd64, &last, &of) == 2 &&
        ens_look(db.dir, &dir) && of == dir.czxid)
        check_round(last);
}

/* Nothing has disturbed so far. */
static bool is_calm(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        const struct process *of = process_of(p);

        if (of->n_ids && !of->closing && session_over(of->ids[of->n_ids - 1]))
            return false;
    }
    return db.rough < 0 && !operator_deleted_any();
}

/* A participant of the round that stands; NULL: all have gone. */
static const char *someone_stands(int64_t round)
{
    for (const struct db_node *o = db.node; o < db.node + db.nodes; o++) {
        if (o->round == round && !o->died)
            return o->name;
    }
    return NULL;
}

/* The round of which it may have read before the one that the tree has. */
static int64_t other_round(int act)
{
    int64_t round = 0;

    for (const struct db_node *o = db.node; o < db.node + db.nodes; o++) {
        if (o->act == act && o->other_round)
            round = o->other_round;
    }
    return round ? round : db.slot[act].round;
}

bool db_excused(int act, evzk_double_barrier_event ev, int rc)
{
    const struct db_act *a = &db.own->act[act];
    const struct db_slot *k = &db.slot[act];
    const struct process *p = process_of(a->proc);
    const struct db_node *n = db_node_of(act);
    bool inside = ev != EVZK_DOUBLE_BARRIER_FAILED;
    uint32_t ms = k->leaving ? a->leave_timeout_ms : a->timeout_ms;

    switch (rc) {
    case EVZK_ERR_CANCELED:
        return k->stopped;
    case EVZK_ERR_TIMEOUT:
        return ms > 0 && sim_now() >= k->began + in_us(ms);
    case EVZK_ERR_CLOSED:
        return p->closing;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(a->proc);
    case EVZK_ERR_SERVER:
        return ens_throttled(a->proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(a->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_EXPIRED:
        return inside && n && session_over(n->owner);
    case EVZK_ERR_NODEGONE:
        return inside && (operator_deleted(n ? n->czxid : 0) ||
                          (n && session_over(n->owner)));
    case EVZK_ERR_LEASE:
        /* Behind a close SUSPENDED is not told. */
        return inside && (k->doubtful || process_of(a->proc)->closing) &&
               process_has_lapsed(a->proc);
    case EVZK_ERR_FOREIGN:
        return (db.own->foreign_ready || fault_made_older_ready() ||
                db.marred) &&
               !inside;
    case EVZK_ERR_NOAUTH:
        return ens_denied(a->proc) || a->mute || db.own->hidden ||
               db.own->denied;
    case EVZK_ERR_SEQUENCE:
        return db.own->number != 0;
    case EVZK_ERR_NOCHROOT:
        return db.own->chroot != NULL;
    default:
        return false;
    }
}

static void check_entered(int act)
{
    struct db_slot *k = &db.slot[act];
    const struct db_node *n = db_node_of(act);

    process_certain(db.own->act[act].proc, &k->doubts, "ENTERED");
    if (k->entered)
        sim_violation("act %d is told twice that it is inside", act + 1);
    if (n && n->round)
        k->round = n->round;
    else if (!operator_deleted_any()) /* Or the directory was. */
        sim_violation("act %d is inside, and in no round", act + 1);
    if (k->d && !evzk_double_barrier_inside(k->d))
        sim_violation("act %d is told that it is inside, and is not", act + 1);
}

static void check_final(int act, evzk_double_barrier_event ev, int rc)
{
    struct db_slot *k = &db.slot[act];

    if ((ev != EVZK_DOUBLE_BARRIER_FAILED) != k->entered)
        sim_violation("act %d: %s", act + 1,
                      evzk_double_barrier_event_name(ev));
    if (rc != EVZK_OK && !db_excused(act, ev, rc))
        sim_violation("act %d: %s with %s", act + 1,
                      evzk_double_barrier_event_name(ev), evzk_errname(rc));
    if (rc != EVZK_OK)
        return;
    if (ev != EVZK_DOUBLE_BARRIER_LEFT || !k->leaving)
        sim_violation("act %d: %s without an error", act + 1,
                      evzk_double_barrier_event_name(ev));
    if (someone_stands(k->round) && someone_stands(other_round(act)))
        sim_violation("act %d has left, and not all have gone: %s", act + 1,
                      someone_stands(k->round));
    k->left = true;
}

void db_check_told(int act, evzk_double_barrier_event ev, int rc)
{
    struct db_slot *k = &db.slot[act];
    int proc = db.own->act[act].proc;

    switch (ev) {
    case EVZK_DOUBLE_BARRIER_ENTERED:
        check_entered(act);
        k->entered = true;
        break;
    case EVZK_DOUBLE_BARRIER_SUSPENDED:
        process_doubtful(proc, &k->doubts, "SUSPENDED");
        k->doubtful = true;
        break;
    case EVZK_DOUBLE_BARRIER_RESUMED:
        process_certain(proc, &k->doubts, "RESUMED");
        if (!k->doubtful)
            sim_violation("act %d is resumed, and was in no doubt", act + 1);
        k->doubtful = false;
        break;
    case EVZK_DOUBLE_BARRIER_LEFT:
    case EVZK_DOUBLE_BARRIER_LOST:
    case EVZK_DOUBLE_BARRIER_FAILED:
        check_final(act, ev, rc);
    }
}

/* While its lease holds, a participant that is inside has its znode. */
static void check_inside(int act)
{
    const struct db_slot *k = &db.slot[act];
    const struct db_node *n = db_node_of(act);

    if (!k->d || !evzk_double_barrier_inside(k->d))
        return;
    if (!k->entered || k->leaving)
        sim_violation("act %d is inside, and was not told", act + 1);
    else if (n && n->died && !operator_deleted(n->czxid) &&
             !session_forced(n->owner))
        sim_violation("act %d is inside, and its znode is gone", act + 1);
}

/* Enough have come, nobody of an earlier round is there, and no round is
 * formed; or `ready` stands for an act that is not told; or an act that is
 * inside does not hear that its doubt is over, or that its znode is gone; or
 * all have gone, and an act waits for them. */
static bool is_due(int act)
{
    const struct db_slot *k = &db.slot[act];
    const struct db_node *n = db_node_of(act);
    uint32_t coming = 0;
    bool older = false;

    if (k->stopped)
        return true;
    if (k->leaving)
        return !someone_stands(k->round);
    if (k->entered)
        return n && (n->died || k->doubtful);
    if (!n || n->died)
        return true; /* A participant is to have one. */
    for (const struct db_node *o = db.node; o < db.node + db.nodes; o++) {
        older = older || (!o->died && o->round);
        coming += !o->died && !o->round && o->owner;
    }
    if (n->round)
        return db.ready_mzxid != 0; /* An operator may have deleted it. */
    return !older && coming >= db.own->count && !db.own->foreign_ready;
}

void double_barrier_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < DB_ACTS; i++) {
        const struct db_slot *k = &db.slot[i];

        if (db.own->act[i].proc != proc)
            continue;
        sim_owe(debt, k->d && is_due(i), "an act waits, and need not", i + 1);
        sim_owe(debt, k->q != NULL, "a look-up is not told", i + 1);
    }
    debt->paid = (uint64_t)db.changes;
}

/* No herd: while anybody of its round stands, no participant that has gone
 * wakes, as long as nothing has disturbed.  With one round, it is that round.
 */
void db_traced(int proc, const evzk_trace *t)
{
    (void)proc;
    if (t->entered && strcmp(t->to, "LISTING_REST") == 0 && is_calm() &&
        db.rounds == 1 && someone_stands(1))
        sim_violation("a participant that has gone wakes too early");
}

static void note_faults(void)
{
    if (faults_healed_at() > sim_now())
        db.rough = faults_healed_at();
    for (int p = 0; p < SIM_PROCS; p++) {
        const struct process *of = process_of(p);
        bool up = of->s && process_is_connected(p);

        if (db.up[p] && !up && of->s && !of->closing)
            db.rough = sim_now();
        db.up[p] = up;
    }
}

/* As of semaphores: the time of an enter, and of a leave. */
static void check_time(int act)
{
    const struct db_act *a = &db.own->act[act];
    const struct db_slot *k = &db.slot[act];
    uint32_t ms = k->leaving ? a->leave_timeout_ms : a->timeout_ms;

    if (ms && k->d && !k->stopped && (k->leaving || !k->entered) &&
        process_is_late(a->proc, k->began + in_us(ms)))
        sim_violation("act %d is to end, and is not told so", act + 1);
}

void db_check(void)
{
    db_look();
    note_faults();
    for (int i = 0; i < DB_ACTS; i++) {
        int before;

        if (db.own->act[i].what != DB_ENTER)
            continue;
        before = sim_enter(db.own->act[i].proc);
        check_inside(i);
        sim_leave(before);
        check_time(i);
    }
    processes_check();
}

/* The end. */

/* A participant of a round has gone in another way than by leaving, or perhaps
 * with its session: then the last one of the round may not have deleted
 * `ready`.  A znode of nobody never does. */
static bool was_broken(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_of(p)->n_ids > 1)
            return true;
    }
    for (const struct db_node *o = db.node; o < db.node + db.nodes; o++) {
        if (o->owner && (o->act < 0 || (o->round && !db.slot[o->act].left)))
            return true;
    }
    return operator_deleted_any() || db.own->ready || fault_made_ready(0);
}

void db_check_end(void)
{
    for (const struct db_node *o = db.node; o < db.node + db.nodes; o++) {
        if (!o->died && o->act >= 0)
            sim_violation("%s is left", o->name);
    }
    if (db.ready_mzxid && !was_broken())
        sim_violation("ready is left");
    processes_check_end();
}
