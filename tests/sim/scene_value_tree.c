/* The values that stood in the tree, one after another, and the rules for what
 * makes one out of another. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "scene.h"
#include "scene_value.h"

enum { BASE_BITS = 2 };
#define OPERATORS_NUMBER (INT64_C(1) << 50)

int64_t value_delta(int i, int n)
{
    return INT64_C(1) << (BASE_BITS * (i * OPS + n));
}

int value_digit(int64_t number, int i, int n)
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

/* Additions of one transaction, each once, to what stood before. */
static void note_number(const struct value_state *was, struct value_state *is)
{
    bool same = was->czxid == is->czxid && was->is_number;
    int64_t sum = is->number - (same ? was->number : 0);

    is->foreign = same && was->foreign;
    if (sum < 0)
        sim_violation("an addition is lost: %s", is->data);
    for (int i = 0; i < WRITERS; i++) {
        for (int n = 0; n < OPS; n++) {
            int times = value_digit(sum, i, n);

            if (times > 1)
                sim_violation("addition %d.%d is counted twice", i, n);
            if (times == 1) {
                note_done(i, n, was);
                valued.writer[i].op[n].foreign = is->foreign;
            }
        }
    }
}

/* By an operator, or a fault. */
static bool is_foreign(const struct value_state *was,
                       const struct value_state *is)
{
    int64_t before = was->czxid == is->czxid ? was->number : 0;

    return fault_wrote(is->mzxid) || strncmp(is->data, "op", 2) == 0 ||
           is->number == OPERATORS_NUMBER ||
           (is->is_number && (before ^ is->number) & OPERATORS_NUMBER);
}

/* An addition that is too much for every number of the scene was done, since a
 * fault has written another number, or somebody has deleted the value. */
static bool note_too_much(const struct value_state *was, struct value_state *is)
{
    bool anew = !was->czxid && is->number == INT64_MAX;

    is->foreign = was->foreign;
    for (int i = 0; i < WRITERS && (was->foreign || anew); i++) {
        for (int n = 0; n < valued.writer[i].n_ops; n++) {
            struct value_op *op = &valued.writer[i].op[n];

            if (op->kind != 'x' || op->told ||
                (!anew && (was->czxid != is->czxid ||
                           is->number - was->number != INT64_MAX)))
                continue;
            note_done(i, n, was);
            is->foreign = true;
            return op->foreign = true;
        }
    }
    return false;
}

static void note_change(const struct value_state *was, struct value_state *is)
{
    int i, n;

    if (!is->czxid || (is->is_number && note_too_much(was, is)))
        return;
    if (is_foreign(was, is))
        is->foreign = is->is_number;
    else if (sscanf(is->data, "w%d.%d", &i, &n) == 2)
        note_done(i, n, was);
    else if (is->is_number)
        note_number(was, is);
}

/* As evzk_value_add() takes it: nothing is 0. */
static void read_number(struct value_state *is)
{
    size_t sign = is->data[0] == '-' && is->len > 1 ? 1 : 0;

    errno = 0;
    is->number = strtoll(is->data, NULL, 10);
    is->is_number =
        errno == 0 && is->len < (int32_t)sizeof is->data &&
        sign + strspn(is->data + sign, "0123456789") == (size_t)is->len;
    if (!is->is_number)
        is->number = 0;
}

static struct value_state read_tree(void)
{
    struct value_state is = {0};
    struct ens_seen seen;

    if (!ens_look(valued.path, &seen))
        return is;
    is.czxid = seen.czxid;
    is.mzxid = seen.mzxid;
    is.version = seen.version;
    is.len = seen.len > 0 ? seen.len : 0;
    is.hash = sim_hash(seen.data, (size_t)is.len);
    if (is.len > 0)
        memcpy(is.data, seen.data,
               is.len < (int32_t)sizeof is.data ? (size_t)is.len
                                                : sizeof is.data - 1);
    read_number(&is);
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
