/* The rules of look-ups of who is at a double barrier: a participant that was
 * there all the time is told of, in order, with its data, and none that had
 * gone before the question.
 *
 * How it can fail: a copy has the name of the znode that it was made of. */
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "processes.h"
#include "scene_double_barrier.h"

void db_asked(int act)
{
    struct db_slot *k = &db.slot[act];

    k->asked = db.changes;
    for (int64_t i = 0; i < db.nodes; i++) {
        k->there[i] = !db.node[i].died;
        k->in_round[i] = db.node[i].round != 0;
    }
}

/* The znode that a look-up has read; a copy may have had its name since. */
static const struct db_node *node_told(const evzk_participant *p)
{
    const struct db_node *named = NULL, *same = NULL;

    for (const struct db_node *o = db.node; o < db.node + db.nodes; o++) {
        if (strcmp(o->name, p->node) != 0)
            continue;
        named = o;
        if (!p->hidden && o->owner == p->session)
            same = o;
    }
    return same ? same : named;
}

/* The data are its own, or what a fault has written there. */
static bool has_data(const struct db_node *n, const evzk_participant *p)
{
    char path[64 + DB_NAME];

    snprintf(path, sizeof path, "%s/%s", db.dir, n->name);
    return p->data_len != 1 || ((const char *)p->data)[0] == '0' + n->act ||
           fault_said(path, p->data, p->data_len);
}

/* The scene's own participant, which nobody may read. */
static bool hides(const struct db_node *n)
{
    return db.own->hidden && strncmp(n->name, DB_GUID, strlen(DB_GUID)) == 0;
}

static void check_one(const struct db_slot *k, const evzk_participant *p)
{
    const struct db_node *n = node_told(p);
    int64_t i = n ? n - db.node : 0;

    if (!n)
        sim_violation("a look-up tells of %s, which never was", p->node);
    else if (n->died && n->died <= k->asked)
        sim_violation("a look-up tells of %s, which had gone", p->node);
    else if (p->hidden != hides(n))
        sim_violation("a look-up is wrong about who hides");
    else if (p->hidden ? p->session || p->data_len : p->session != n->owner)
        sim_violation("a look-up tells wrongly of %s", p->node);
    else if (!p->hidden && n->act >= 0 && !has_data(n, p))
        sim_violation("a look-up tells other data of %s", p->node);
    else if (n->act >= 0 && !operator_deleted_any() &&
             (p->inside ? !n->round
                        : k->in_round[i] && db.ready_mzxid && !db.marred))
        sim_violation("a look-up is wrong about who is inside");
}

void db_check_answer(int act, int rc, const evzk_participant *v, size_t n)
{
    const struct db_slot *k = &db.slot[act];

    if (rc != EVZK_OK && !db_excused(act, EVZK_DOUBLE_BARRIER_FAILED, rc))
        sim_violation("a look-up gave %s", evzk_errname(rc));
    if (rc == EVZK_OK && db.own->chroot)
        sim_violation("a look-up below no chroot");
    for (size_t i = 0; i < n; i++) {
        int32_t a, b;

        check_one(k, &v[i]);
        if (i > 0 && db_read_seq(v[i - 1].node, &a) &&
            db_read_seq(v[i].node, &b) && a > b)
            sim_violation("a look-up is out of order at %s", v[i].node);
    }
    for (int64_t i = 0; rc == EVZK_OK && i < db.nodes; i++) {
        bool told = false;

        for (size_t j = 0; j < n; j++)
            told = told || strcmp(v[j].node, db.node[i].name) == 0;
        if (k->there[i] && !db.node[i].died && !told)
            sim_violation("a look-up misses %s", db.node[i].name);
    }
}
