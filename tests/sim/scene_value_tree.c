/* The values that stood in the tree, one after another, and the rules for what
 * makes one out of another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
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

static void note_number(const struct value_state *was,
                        const struct value_state *is)
{
    bool same = was->czxid == is->czxid && was->is_number;
    int64_t before = same ? was->number : 0;

    if ((before ^ is->number) & OPERATORS_NUMBER)
        return; /* The operator's. */
    for (int i = 0; i < WRITERS; i++) {
        for (int n = 0; n < OPS; n++) {
            int a = value_digit(before, i, n),
                b = value_digit(is->number, i, n);

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
