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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_value.h"
#include "steps.h"

enum {
    BASE_BITS = 2,
    TRUTH_US = 3 * 1000 * 1000,
    NAMES = 32,
    AGAIN_US = 7000,
    ANY = -1
};
#define OPERATORS_NUMBER (INT64_C(1) << 50)

int64_t value_delta(int i, int n)
{
    return INT64_C(1) << (BASE_BITS * (i * OPS + n));
}

static int digit(int64_t number, int i, int n)
{
    return (int)(number >> (BASE_BITS * (i * OPS + n))) & 3;
}

static struct value_state *now(void) { return &valued.seen[valued.n_seen - 1]; }

/* ---- The tree ---- */

static void check_place(int i, int n, const struct value_state *was)
{
    const struct value_op *op = &valued.writer[i].op[n];

    if ((op->kind == 'c' || op->kind == 'o') &&
        (was->czxid != op->stamp.czxid || was->version != op->stamp.version))
        sim_violation("write %d.%d is done in the place of another value", i,
                      n);
    if (op->kind == 'n' && was->czxid)
        sim_violation("write %d.%d makes a value that was there", i, n);
}

static void note_done(int i, int n, const struct value_state *was)
{
    struct value_op *op = &valued.writer[i].op[n];

    if (n >= valued.writer[i].n_ops) {
        sim_violation("write %d.%d is done, and nobody asked for it", i, n);
        return;
    }
    sim_say("write %d.%d is done", i, n);
    if (op->made++)
        sim_violation("write %d.%d is done twice", i, n);
    if (op->refused)
        sim_violation("write %d.%d was refused, and is done", i, n);
    check_place(i, n, was);
}

static void note_number(const struct value_state *was,
                        const struct value_state *is)
{
    bool same = was->czxid == is->czxid && was->is_number;
    int64_t before = same ? was->number : 0;

    if ((before ^ is->number) & OPERATORS_NUMBER)
        return; /* The operator's. */
    for (int i = 0; i < WRITERS; i++) {
        for (int n = 0; n < OPS; n++) {
            int a = digit(before, i, n), b = digit(is->number, i, n);

            if (b > 1)
                sim_violation("addition %d.%d is counted twice", i, n);
            else if (b < a)
                sim_violation("addition %d.%d is lost", i, n);
            else if (b > a)
                note_done(i, n, was);
        }
    }
}

static void note_change(const struct value_state *was,
                        const struct value_state *is)
{
    int i, n;

    if (!is->czxid || strncmp(is->data, "op", 2) == 0)
        return;
    if (sscanf(is->data, "w%d.%d", &i, &n) == 2)
        note_done(i, n, was);
    else if (is->is_number)
        note_number(was, is);
}

static struct value_state read_tree(void)
{
    struct value_state is = {0};
    struct ens_seen seen;
    char *end;

    if (!ens_look(valued.path, &seen))
        return is;
    is.czxid = seen.czxid;
    is.mzxid = seen.mzxid;
    is.version = seen.version;
    snprintf(is.data, sizeof is.data, "%.*s", seen.len,
             seen.data ? seen.data : "");
    is.number = strtoll(is.data, &end, 10);
    is.is_number = *end == '\0';
    return is;
}

void value_look(void)
{
    struct value_state is = read_tree();

    if (valued.n_seen > 0 && is.mzxid == now()->mzxid &&
        is.czxid == now()->czxid)
        return;
    if (valued.n_seen == SEEN) {
        sim_violation("the value has changed too often");
        return;
    }
    valued.seen[valued.n_seen++] = is;
    if (valued.n_seen > 1) {
        sim_say("the value is %s", is.czxid ? is.data : "gone");
        note_change(now() - 1, now());
    }
}

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
    case EVZK_ERR_CONNLOSS:
        return ens_throttled(proc) || operator_deleted_any() || own()->sealed;
    case EVZK_ERR_NOAUTH:
        return own()->perms || own()->above_perms || own()->sealed;
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
           s->mzxid == v->mzxid && strlen(s->data) == v->len &&
           memcmp(s->data, v->data, v->len) == 0;
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

    if (own()->chroot)
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

static bool is_bad_for(const struct value_op *op, const struct value_state *s)
{
    return (s->czxid && !s->is_number) || op->kind == 'x';
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
    default:
        return value_rc_ok(proc, op->rc, valued.writer[i].canceled);
    }
}

static bool is_unknown(int rc)
{
    return rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_CLOSED ||
           rc == EVZK_ERR_SERVER;
}

/* The numbers of additions are different, and hold the addition itself and no
 * other that was not done. */
static void check_number(int i, int n)
{
    const struct value_op *op = &valued.writer[i].op[n];

    if (op->kind != '+' || op->rc != EVZK_OK) {
        if (op->number)
            sim_violation("write %d.%d: a number", i, n);
        return;
    }
    if (digit(op->number, i, n) != 1)
        sim_violation("addition %d.%d is not in its number", i, n);
    for (int a = 0; a < WRITERS; a++) {
        for (int b = 0; b < OPS; b++) {
            const struct value_op *other = &valued.writer[a].op[b];

            if (digit(op->number, a, b) && !other->made)
                sim_violation("addition %d.%d: %d.%d was not done", i, n, a, b);
            if (other != op && other->told && other->rc == EVZK_OK &&
                other->kind == '+' && other->number == op->number)
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

static bool is_behind(int i)
{
    const struct reader *r = &valued.reader[i];
    const struct process *p = process_of(reader_plan(i)->proc);

    return r->f && (!r->told || r->at != valued.n_seen - 1) && p->s &&
           !p->closing && evzk_session_connected(p->s);
}

static void check_rest(int i)
{
    struct reader *r = &valued.reader[i];
    int proc = reader_plan(i)->proc, before = sim_enter(proc);

    if (!is_behind(i))
        r->wrong = 0;
    else if (r->wrong == 0)
        r->wrong = sim_now();
    else if (sim_now() - r->wrong > TRUTH_US &&
             !process_was_frozen(proc, r->wrong))
        sim_violation("reader %d does not say what the value is", i);
    sim_leave(before);
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
    for (int i = 0; i < READERS; i++) {
        if (reads(i))
            check_rest(i);
    }
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i))
            check_pending(i);
    }
    processes_check();
}

/* A process that has closed its session early, or was refused, leaves its
 * receipt behind. */
static bool may_leave(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (ens_throttled(p) || valued.early[p])
            return true;
    }
    return own()->perms != 0;
}

void value_check_end(void)
{
    const char *names[NAMES];

    if (ens_children(valued.path, names, NAMES) > 0 && !may_leave())
        sim_violation("%s is left", names[0]);
    processes_check_end();
}

/* ---- The operator ---- */

static void delete_receipts(void)
{
    const char *names[NAMES];
    char path[2 * ROOM];
    size_t n = ens_children(valued.path, names, NAMES);

    for (size_t k = 0; k < n && k < NAMES; k++) {
        snprintf(path, sizeof path, "%s/%s", valued.path, names[k]);
        operator_delete(path);
    }
}

static void act(intptr_t arg)
{
    int k = (int)arg;

    switch (own()->act[k].what) {
    case ACT_NOTHING:
        break;
    case ACT_SET:
        ens_set_data(valued.path, "op", 2);
        break;
    case ACT_NUMBER:
        ens_set_data(valued.path, "1125899906842624", 16);
        break;
    case ACT_DELETE:
    case ACT_REMAKE:
        delete_receipts();
        operator_delete(valued.path);
        value_look();
        if (own()->act[k].what == ACT_REMAKE)
            ens_create(valued.path, "0", 1, 0);
        break;
    case ACT_RECEIPTS:
        delete_receipts();
        break;
    case ACT_CREATE:
        ens_create(valued.path, "op", 2, 0);
        break;
    case ACT_CUT:
        if (wire_conn_of(0) >= 0)
            wire_cut(wire_conn_of(0));
        break;
    }
    value_look();
    if (++valued.acts_done[k] < own()->act[k].times)
        scene_timer_set(AGAIN_US, -1, act, arg);
}

void value_acts_begin(void)
{
    for (int k = 0; k < ACTS; k++) {
        if (own()->act[k].what)
            scene_timer_set(own()->act[k].at_ms * INT64_C(1000), -1, act, k);
    }
}
