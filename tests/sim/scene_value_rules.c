/* The rules of values, and the operator of their scenes.
 *
 * Each write has data of its own, so the tree tells which were done: an
 * addition is a digit of its own, to the base of 4, and set once.  A write is
 * done at most once.  Told as done it was done; told as refused it was not, and
 * will not be; and what refused it was so at some time of the call.  A
 * compare-and-set is done where the value was the one it names, a creation
 * where there was none.  No addition is ever lost, but by who writes the value
 * or deletes it.  A value that is told stood at some time of the call.  A
 * follower goes forward, and rests on the last value.
 *
 * How it can fail: the tree is looked at after every step, and a step commits
 * one transaction at most. */
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "owes.h"
#include "processes.h"
#include "scene.h"
#include "scene_closing.h"
#include "scene_setup.h"
#include "scene_value.h"
#include "steps.h"

enum {
    HIDDEN_US = 12 * 1000 * 1000, /* Where what is watched was hidden. */
    NAMES = 32
};

/* ---- What is told ---- */

static const struct value_scene *own(void) { return valued.own; }

bool value_rc_ok(int proc, int rc, bool canceled)
{
    switch (rc) {
    case EVZK_OK:
        return true;
    case EVZK_ERR_CANCELED:
        return canceled;
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOAUTH:
        return ens_denied(proc) || own()->perms || own()->above_perms ||
               own()->sealed || fault_hid_watched();
    case EVZK_ERR_NOCHROOT:
        return own()->chroot != NULL;
    default:
        return false;
    }
}

static bool is_it(const struct value_state *s, const evzk_value *v)
{
    if (!v->exists || !s->czxid)
        return !v->exists && !s->czxid;
    return s->czxid == v->stamp.czxid && s->version == v->stamp.version &&
           s->mzxid == v->mzxid && (size_t)s->len == v->len &&
           s->hash == sim_hash(v->data, v->len);
}

/* The first state, from this one on, that is it; -1: none. */
static int64_t find(int64_t from, const evzk_value *v)
{
    for (int64_t k = from; k < valued.n_seen; k++) {
        if (is_it(&valued.seen[k], v))
            return k;
    }
    return -1;
}

void value_check_read(int i, const evzk_value *v, bool follows)
{
    struct reader *r = &valued.reader[i];
    int64_t k = find(r->told && follows ? r->at + 1 : r->at, v);

    if (scene_rootless())
        sim_violation("reader %d: a value below no chroot", i);
    else if (k < 0)
        sim_violation("reader %d: %.*s is old, or never was", i,
                      v->exists ? (int)v->len : 7,
                      v->exists ? (const char *)v->data : "nothing");
    else
        r->at = k;
    r->told = true;
}

/* Was the value, from some state on, ever so? */
static bool ever(const struct value_op *op,
                 bool (*is)(const struct value_op *,
                            const struct value_state *))
{
    for (int64_t k = op->from; k < valued.n_seen; k++) {
        if (is(op, &valued.seen[k]))
            return true;
    }
    return false;
}

static bool is_absent(const struct value_op *op, const struct value_state *s)
{
    (void)op;
    return !s->czxid;
}

static bool is_there(const struct value_op *op, const struct value_state *s)
{
    (void)op;
    return s->czxid != 0;
}

static bool is_other(const struct value_op *op, const struct value_state *s)
{
    return s->czxid != op->stamp.czxid || s->version != op->stamp.version;
}

/* No number, or so great a one that a sum may be too great. */
static bool is_bad_for(const struct value_op *op, const struct value_state *s)
{
    return (s->czxid && (!s->is_number || s->number > INT64_MAX / 2)) ||
           op->kind == 'x';
}

int64_t value_losses(void) { return operator_deletions() + ens_tidied(); }

/* Has an operator, or who tidies, deleted anything since the writer's receipt
 * stood for sure?
 */
static bool has_lost(int i, const struct value_op *op)
{
    int64_t losses = 0;

    for (const struct value_op *o = valued.writer[i].op; o < op; o++) {
        if (o->told && o->rc == EVZK_OK)
            losses = o->losses;
    }
    return value_losses() > losses;
}

/* Has another writer made the value, and taken its receipt away again?  Then
 * nobody can tell whether that was the receipt of this one. */
static bool is_like_others(int i, const struct value_op *op)
{
    if (valued.seen[op->from].czxid)
        return false;
    for (int k = 0; k < WRITERS; k++) {
        const struct writer *w = &valued.writer[k];

        if (k != i && (w->n_told > 0 || !w->w) &&
            (w->over || w->closed || w->canceled))
            return true;
    }
    return false;
}

static bool write_rc_ok(int i, const struct value_op *op)
{
    int proc = writer_plan(i)->proc;

    switch (op->rc) {
    case EVZK_ERR_BADVERSION:
        return (op->kind == 'c' || op->kind == 'o') && ever(op, is_other);
    case EVZK_ERR_NONODE:
        return (op->kind == 'c' || op->kind == 'o') && ever(op, is_absent);
    case EVZK_ERR_NODEEXISTS:
        return op->kind == 'n' && ever(op, is_there);
    case EVZK_ERR_BADDATA:
        return (op->kind == '+' || op->kind == 'x') && ever(op, is_bad_for);
    case EVZK_ERR_CONNLOSS:
        return ens_refused(proc) || own()->sealed || has_lost(i, op) ||
               is_like_others(i, op);
    default:
        return value_rc_ok(proc, op->rc, valued.writer[i].canceled);
    }
}

static bool is_unknown(int rc)
{
    return rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_CLOSED ||
           rc == EVZK_ERR_SERVER || rc == EVZK_ERR_TOOLARGE;
}

/* The numbers of additions are different, and hold the addition itself and no
 * other that was not done. */
static void check_number(int i, int n)
{
    const struct value_op *op = &valued.writer[i].op[n];

    if (op->foreign && op->rc == EVZK_OK)
        return; /* Its digits are others'. */
    if (op->kind != '+' || op->rc != EVZK_OK) {
        if (op->number)
            sim_violation("write %d.%d: a number", i, n);
        return;
    }
    if (value_digit(op->number, i, n) != 1)
        sim_violation("addition %d.%d is not in its number", i, n);
    for (int a = 0; a < WRITERS; a++) {
        for (int b = 0; b < OPS; b++) {
            const struct value_op *other = &valued.writer[a].op[b];

            if (value_digit(op->number, a, b) && !other->made)
                sim_violation("addition %d.%d: %d.%d was not done", i, n, a, b);
            if (other != op && other->told && other->rc == EVZK_OK &&
                other->kind == '+' && !other->foreign &&
                other->number == op->number)
                sim_violation("additions %d.%d and %d.%d have one number", i, n,
                              a, b);
        }
    }
}

void value_check_told(int i, int n)
{
    struct value_op *op = &valued.writer[i].op[n];

    if (!write_rc_ok(i, op))
        sim_violation("write %d.%d gave %s", i, n, evzk_errname(op->rc));
    if (op->rc == EVZK_OK && op->made != 1)
        sim_violation("write %d.%d is told, and was not done", i, n);
    if (op->rc != EVZK_OK && !is_unknown(op->rc)) {
        op->refused = true;
        if (op->made)
            sim_violation("write %d.%d is refused, and was done", i, n);
    }
    check_number(i, n);
}

/* ---- After every step ---- */

static bool is_same(const struct value_state *a, const struct value_state *b)
{
    return a->czxid == b->czxid && a->mzxid == b->mzxid;
}

static bool is_behind(const struct reader *r)
{
    return r->f && (!r->told || !is_same(&valued.seen[r->at],
                                         &valued.seen[valued.n_seen - 1]));
}

/* Is an old receipt left?  Of a scene where each write has the writer tidy. */
static bool is_untidy(void)
{
    const char *names[NAMES];
    size_t n = own()->tidies ? ens_children(valued.path, names, NAMES) : 0;

    for (size_t k = 0; k < n && k < NAMES; k++) {
        if (value_is_old(names[k]))
            return true;
    }
    return false;
}

/* A follower says what the value is; who asks, or writes, is told. */
void value_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < READERS; i++) {
        const struct reader *r = &valued.reader[i];

        if (reader_plan(i)->proc != proc)
            continue;
        sim_owe(debt, r->q != NULL, "a reader is not told", i);
        sim_owe(debt, is_behind(r), "a reader does not say what the value is",
                i);
    }
    for (int i = 0; i < WRITERS; i++) {
        const struct writer *w = &valued.writer[i];

        if (writer_plan(i)->proc != proc)
            continue;
        sim_owe(debt, w->w && w->n_told < w->n_ops, "a write is not told", i);
        sim_owe(debt, w->w && (w->closed || w->canceled),
                "a writer does not end", i);
        sim_owe(debt,
                w->w && w->done_before > faults_healed_at() &&
                    w->done_before > owes_refused_at() && is_untidy() &&
                    !ens_shut(proc), /* At the reads of who tidies, maybe. */
                "an old receipt stays", i);
        debt->paid += (uint64_t)w->n_told;
    }
    if (fault_hid_watched())
        debt->most_us = HIDDEN_US;
}

static void check_pending(int i)
{
    const struct writer *w = &valued.writer[i];
    int before = sim_enter(writer_plan(i)->proc);

    if (w->w &&
        (int64_t)evzk_value_writer_pending(w->w) != w->n_ops - w->n_told)
        sim_violation("writer %d: %d writes wait, and it says %d", i,
                      (int)(w->n_ops - w->n_told),
                      (int)evzk_value_writer_pending(w->w));
    sim_leave(before);
}

void value_check(void)
{
    if (ens_has_changed(&valued.looked))
        value_look();
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i))
            check_pending(i);
    }
    for (int i = 0; i < READERS; i++) {
        const struct reader *r = &valued.reader[i];

        if ((r->q || r->f) && process_is_late(reader_plan(i)->proc, r->due))
            sim_violation("reader %d is to end, and is not told so", i);
    }
    processes_check();
}

/* A process that has closed its session early, or may not delete it or look for
 * it, leaves its receipt behind. */
static bool may_leave(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (ens_denied(p) || ens_shut(p) || closed_early(p))
            return true;
    }
    return own()->perms != 0;
}

void value_check_end(void)
{
    const char *names[NAMES];
    size_t n = ens_children(valued.path, names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        if (!may_leave() && !value_is_left(names[k]) && !value_is_old(names[k]))
            sim_violation("%s is left", names[k]);
    }
    processes_check_end();
}
