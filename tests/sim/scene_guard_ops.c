/* The operations of a guarded write; and which writes the client has, to be
 * sent.
 *
 * How it can fail: a request has the steps of several writes.  The receipt of a
 * write is the one that stands nearest before the write's first operation. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene_guard.h"

const char guard_dir[] = "/g",
           guard_znode[] = "123e4567-e89b-42d3-a456-426614174000-lock-";

void guard_op_path(char out[32], int op, int writer, int64_t write)
{
    static const char *const names[OPS] = {"set", "new", "old", "seal"};

    if (op == OP_CHECK)
        snprintf(out, 32, "/w/seal");
    else
        snprintf(out, 32, "/w/%s-%d-%d", names[op], writer, (int)write);
}

/* Changes the operations as the plan says. */
static void vary(const struct guard_plan *plan, evzk_guard_op op[OPS])
{
    static const char much[GUARD_MOST_BYTES + 1] = "much";

    op[OP_CREATE].ephemeral = plan->ephemeral;
    if (plan->clashes)
        op[OP_CREATE].path = "/w/seal";
    if (plan->stale)
        op[OP_SET].version = 3;
    if (plan->twice) {
        op[OP_CHECK].verb = EVZK_GUARD_SET;
        op[OP_CHECK].path = op[OP_CREATE].path;
    }
    if (plan->big) {
        op[OP_SET].data = much;
        op[OP_SET].data_len = sizeof much;
    }
}

int guard_call_write(int i, evzk_guard_cb *cb)
{
    static const evzk_guard_op ops[OPS] = {
        [OP_SET] = {.verb = EVZK_GUARD_SET,
                    .version = -1,
                    .data = "x",
                    .data_len = 1},
        [OP_CREATE] = {.verb = EVZK_GUARD_CREATE},
        [OP_DELETE] = {.verb = EVZK_GUARD_DELETE},
        [OP_CHECK] = {.verb = EVZK_GUARD_CHECK}};
    struct writer *w = &guarding.writer[i];
    const struct guard_plan *plan = guard_plan_of(i);
    evzk_guard_by by = {.lock = w->l, .candidate = w->e};
    const evzk_acl acl = {plan->perms, "world", "anyone"};
    evzk_guard_options opt = {.timeout_ms = plan->timeout_ms};
    evzk_guard_op op[OPS];
    char path[OPS][32];

    memcpy(op, ops, sizeof op);
    for (int k = 0; k < OPS; k++) {
        guard_op_path(path[k], k, i, w->n);
        op[k].path = path[k];
    }
    vary(plan, op);
    if (plan->perms) {
        opt.acl = &acl;
        opt.acl_count = 1;
    }
    if (plan->by == BY_PATH)
        by.path = w->of[w->n].guard;
    return evzk_guard_write(process_of(plan->proc)->s, &by, op, OPS, &opt, cb,
                            (void *)(intptr_t)i, &w->g);
}

void guard_versions(int i, int32_t out[OPS])
{
    out[OP_SET] = out[OP_DELETE] = -1; /* Not known, and no such znode. */
    out[OP_CREATE] = out[OP_CHECK] = guard_plan_of(i)->twice;
}

/* The writes that are sent. */

static void note_sent(struct guarded *w, const char *receipt)
{
    struct ens_seen seen;

    w->sent = true;
    if (strcmp(w->receipt, receipt) == 0)
        return; /* Sent again: an operator may have replaced the receipt. */
    w->receipt_made =
        ens_look(receipt, &seen) && seen.owner != 0 ? seen.czxid : 0;
    w->tampered = false;
    memset(w->receipt, 0, sizeof w->receipt);
    snprintf(w->receipt, sizeof w->receipt, "%s", receipt);
}

static void note_op(int proc, const char *receipt, const char *path)
{
    char set[32];

    for (int i = 0; i < WRITERS; i++) {
        for (int k = 0; k < guarding.writer[i].n; k++) {
            guard_op_path(set, OP_SET, i, k);
            if (guard_plan_of(i)->proc == proc && strcmp(set, path) == 0)
                note_sent(&guarding.writer[i].of[k], receipt);
        }
    }
}

void guard_sends(int proc, const struct wire_msg *m)
{
    const char *receipt = "";

    for (const struct wire_msg *o = m->ops; o != NULL; o = o->next) {
        if (o->op != ZOO_SETDATA_OP)
            continue;
        if (strstr(o->path, "-receipt"))
            receipt = o->path;
        else
            note_op(proc, receipt, o->path);
    }
}
