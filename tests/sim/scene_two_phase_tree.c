/* What the tree says of the transactions, and its rules: a transaction has one
 * decision.  It is to commit only if every site has voted so.  No vote and no
 * decision ever changes.
 *
 * How it can fail: a transaction is known by its id, as the tree first shows
 * it. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_two_phase.h"

enum { KIDS = 32, DECISION = 13, TAG = 15 };

struct tp_world tp;
SIM_KEEP(tp)

int tp_n_sites(void) { return tp.own->sites ? (int)strlen(tp.own->sites) : 0; }

int tp_site(char name)
{
    const char *at = tp.own->sites && name ? strchr(tp.own->sites, name) : NULL;

    return at ? (int)(at - tp.own->sites) : -1;
}

struct tp_tx *tp_find(const char *id)
{
    for (int64_t i = 0; i < tp.txs; i++) {
        if (strcmp(tp.tx[i].id, id) == 0)
            return &tp.tx[i];
    }
    return NULL;
}

void tp_path(char *to, size_t size, const char *path)
{
    const char *mark = strchr(path, '%');

    if (mark)
        snprintf(to, size, "/t/%.*s%s%s", (int)(mark - path), path,
                 tp.txs ? tp.tx[0].id : "none", mark + 1);
    else
        snprintf(to, size, "/t/%s", path);
    if (strcmp(path, "coordinator") == 0 && tp.txs)
        snprintf(to, size, "/t/coordinators/%s", tp.tx[0].tag);
}

bool tp_is_tampered(void) { return operator_deleted_any(); }

static struct tp_tx *note(const char *id, const struct ens_seen *seen)
{
    struct tp_tx *x = tp_find(id);

    if (x && x->removed && tp.copied) {
        x->removed = false;
        x->czxid = seen->czxid;
    }
    if (x && x->removed && x->czxid != seen->czxid) {
        if (!tp_is_tampered())
            sim_violation("a transaction is made again");
        *x = (struct tp_tx){.czxid = seen->czxid, .variant = x->variant};
        strcpy(x->id, id);
        snprintf(x->tag, sizeof x->tag, "%.42s", seen->data + TAG);
    }
    if (x || strlen(id) != EVZK_TX_ID_LEN || seen->len < 60 ||
        memcmp(seen->data, "evzk-2pc 1 ", 11) != 0)
        return x;
    if (tp.txs == TP_TXS) {
        sim_violation("too many transactions");
        return NULL;
    }
    x = &tp.tx[tp.txs++];
    strcpy(x->id, id);
    snprintf(x->tag, sizeof x->tag, "%.42s", seen->data + TAG);
    x->czxid = seen->czxid;
    x->variant = (evzk_tx_variant)(strchr("mps", seen->data[11]) - "mps");
    return x;
}

/* Beside this vote of a site stands what was there before it. */
static bool contradicted(const struct tp_tx *x, int i, int64_t czxid)
{
    static const char *const others[] = {"open", "asked", "here", "abort"};
    struct ens_seen seen;
    char path[120];

    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "/t/tx/%s/%s-%c", x->id, others[k],
                 tp.own->sites[i]);
        if (ens_look(path, &seen) && seen.czxid < czxid)
            return true;
    }
    return false;
}

static void check_commit(const struct tp_tx *x)
{
    struct ens_seen seen;
    char path[120];

    for (int i = 0; i < tp_n_sites(); i++) {
        if (x->vote[i] != EVZK_TX_COMMIT &&
            !(tp_is_tampered() && fault_forged_votes()))
            sim_violation("committed, and site %c has not voted so",
                          tp.own->sites[i]);
        snprintf(path, sizeof path, "/t/tx/%s/commit-%c", x->id,
                 tp.own->sites[i]);
        if (!ens_look(path, &seen) || seen.version != 0)
            sim_violation("committed, and somebody wrote to the vote of %c",
                          tp.own->sites[i]);
        if (contradicted(x, i, seen.czxid))
            sim_violation("committed, and znodes of site %c contradict that",
                          tp.own->sites[i]);
    }
}

/* Does it say now what no process can read? */
static void note_text(struct tp_tx *x, const struct ens_seen *seen)
{
    bool was = x->unreadable;

    x->unreadable =
        seen->len < 11 || memcmp(seen->data, "evzk-2pc 1 ", 11) != 0;
    if (x->unreadable && !was)
        x->spoilt = seen->mzxid;
}

static void look_at_decision(struct tp_tx *x, const struct ens_seen *seen)
{
    evzk_tx_verdict said = seen->len <= DECISION         ? EVZK_TX_NONE
                           : seen->data[DECISION] == 'c' ? EVZK_TX_COMMIT
                           : seen->data[DECISION] == 'a' ? EVZK_TX_ABORT
                                                         : EVZK_TX_NONE;

    if (tp.copied && !tp.copied_late && x->decision != EVZK_TX_NONE &&
        said != EVZK_TX_NONE && said != x->decision &&
        !fault_wrote(seen->mzxid))
        sim_violation("the decision has changed");
    note_text(x, seen);
    if (seen->len == 8)
        return; /* An operator has written to it. */
    if (fault_wrote(seen->mzxid)) {
        x->marred = true;
        x->restored = seen->mzxid;
        return;
    }
    if (x->decision != EVZK_TX_NONE && !tp_is_tampered() &&
        (said != x->decision || seen->mzxid != x->decided))
        sim_violation("the decision has changed");
    if (x->decision != EVZK_TX_NONE || said == EVZK_TX_NONE)
        return;
    x->decision = said;
    x->decided = seen->mzxid;
    if (said == EVZK_TX_COMMIT && !tp.overruled)
        check_commit(x);
}

/* A site that has voted to commit waits for the decision, whatever it reads. */
static void check_standing(struct tp_tx *x, int i, int64_t commit)
{
    if (x->commit[i] && x->commit[i] != commit &&
        !operator_deleted(x->commit[i]) && x->decision == EVZK_TX_NONE)
        sim_violation("site %c has taken its vote back", tp.own->sites[i]);
    x->commit[i] = commit;
}

/* A process deletes a site's znode. */
void tp_note_delete(const char *path, int64_t heard)
{
    struct tp_tx *x;
    char id[EVZK_TX_ID_LEN + 1];
    const char *name = strrchr(path, '/');
    int i = tp_site(path[strlen(path) - 1]);

    if (i < 0 || strncmp(path, "/t/tx/", 6) != 0 ||
        name - path != 6 + EVZK_TX_ID_LEN)
        return;
    snprintf(id, sizeof id, "%.36s", path + 6);
    x = tp_find(id);
    if (x)
        x->heard[i] = heard;
}

/* The site has looked since the text was spoilt, or could hear of that. */
static void check_taken(const struct tp_tx *x, int i, bool any)
{
    if (x->stood[i] && !any && x->unreadable && x->marred &&
        x->heard[i] >= x->spoilt && x->decision == EVZK_TX_NONE &&
        !tp_is_tampered())
        sim_violation("site %c has taken away what it cannot read",
                      tp.own->sites[i]);
}

static void look_at_site(struct tp_tx *x, int i)
{
    static const char *const kinds[] = {"open", "asked", "commit", "abort"};
    char path[120];
    int64_t commit = 0;
    struct ens_seen seen;
    bool any = false;

    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "/t/tx/%s/%s-%c", x->id, kinds[k],
                 tp.own->sites[i]);
        if (!ens_look(path, &seen))
            continue;
        if (fault_forged_vote(seen.data, seen.len)) {
            x->forged[i] = true;
            continue;
        }
        any = true;
        if (k == 1)
            x->came[i] = true;
        if (k == 2)
            commit = seen.czxid;
        if (k >= 2 && x->vote[i] != EVZK_TX_NONE &&
            x->vote[i] != (k == 2 ? EVZK_TX_COMMIT : EVZK_TX_ABORT) &&
            !tp.own->foreign && !tp_is_tampered())
            sim_violation("site %c has changed its vote", tp.own->sites[i]);
        if (k >= 2 && x->decision == EVZK_TX_NONE && x->vote[i] == 0)
            x->vote[i] = k == 2 ? EVZK_TX_COMMIT : EVZK_TX_ABORT;
        if (k >= 2 && x->decision != EVZK_TX_NONE && x->vote[i] == 0 &&
            !tp_is_tampered() && !tp.own->foreign)
            sim_violation("site %c votes behind the decision",
                          tp.own->sites[i]);
    }
    check_standing(x, i, commit);
    check_taken(x, i, any);
    x->stood[i] = any;
    snprintf(path, sizeof path, "/t/inbox/%c/%s", tp.own->sites[i], x->id);
    if (ens_look(path, &seen))
        x->entry[i] = seen.czxid;
    x->came[i] = x->came[i] || any;
    if (x->came[i] && !any && x->decision != EVZK_TX_NONE)
        x->done[i] = true;
}

/* Servers remove no directory that has a znode.  So where the last sites' part
 * and the transaction went between two looks, the sites whose programs have
 * said so are done. */
static void end_at_once(struct tp_tx *x)
{
    for (int i = 0; i < tp_n_sites(); i++)
        x->done[i] = x->done[i] || (x->came[i] && x->said[i]);
}

static void look_at_tx(struct tp_tx *x)
{
    struct ens_seen seen;
    char path[64];

    snprintf(path, sizeof path, "/t/tx/%s", x->id);
    if (!ens_look(path, &seen)) {
        x->removed = true;
        end_at_once(x);
        return;
    }
    for (int i = 0; i < tp_n_sites() && x->decision == EVZK_TX_NONE; i++)
        look_at_site(x, i);
    look_at_decision(x, &seen);
    for (int i = 0; i < tp_n_sites(); i++)
        look_at_site(x, i);
}

void tp_look(void)
{
    const char *names[KIDS];
    size_t n;

    if (!ens_has_changed(&tp.looked))
        return;
    n = ens_children("/t/tx", names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        struct ens_seen seen;
        char path[80];

        snprintf(path, sizeof path, "/t/tx/%.36s", names[i]);
        if (ens_look(path, &seen))
            note(names[i], &seen);
    }
    for (int64_t i = 0; i < tp.txs; i++) {
        if (!tp.tx[i].removed)
            look_at_tx(&tp.tx[i]);
    }
}

int tp_count(const bool *v)
{
    int n = 0;

    for (int i = 0; i < tp_n_sites(); i++)
        n += v[i];
    return n;
}

bool tp_come_to(enum tp_when when)
{
    const struct tp_tx *x = &tp.tx[0];
    int votes = 0;
    char path[120];
    struct ens_seen seen;
    bool here = false;

    if (tp.txs == 0)
        return false;
    for (int i = 0; i < tp_n_sites(); i++) {
        votes += x->vote[i] != 0;
        snprintf(path, sizeof path, "/t/tx/%s/here-%c", x->id,
                 tp.own->sites[i]);
        here = here || ens_look(path, &seen);
    }
    switch (when) {
    case TP_AT_ONCE:
    case TP_STANDS:
        return true;
    case TP_HERE:
        return here;
    case TP_VOTED:
        return votes > 0;
    case TP_ALL_VOTED:
        return votes == tp_n_sites();
    case TP_DECIDED:
        return x->decision != EVZK_TX_NONE;
    case TP_DONE:
        return tp_count(x->done) > 0;
    case TP_ALL_DONE:
        return tp_count(x->done) == tp_n_sites();
    case TP_OVER:
        return x->removed;
    }
    return false;
}
