/* The end of a session, as a transaction: its ephemerals go, those too that are
 * prepared and not yet in the tree.  In the order in which the server would
 * have it, as far as a client can see. */
#include "ens_internal.h"

#include <string.h>

enum { CLOSE_MAX = 512 };
struct owned {
    uint32_t n;
    const char *path[CLOSE_MAX];
};

static void own(struct owned *o, const char *path)
{
    if (o->n == CLOSE_MAX)
        sim_violation("ens: a session with over %d ephemerals", CLOSE_MAX);
    else
        o->path[o->n++] = path;
}

static void collect(const struct ens_node *n, int64_t session, struct owned *o)
{
    const struct ens_rev *r;

    for (; n != NULL; n = n->next) {
        r = ens_prep_look(n->path);
        if (r != NULL && r->owner == session)
            own(o, n->path);
        collect(n->first, session, o);
    }
}

/* The znodes that are not in the tree yet. */
static void collect_new(int64_t session, struct owned *o)
{
    for (struct ens_record *r = ens.records; r != NULL; r = r->older) {
        if (r->rev.gone != 0 || r->rev.owner != session ||
            ens_tree_find(r->path) != NULL || ens_prep_look(r->path) != &r->rev)
            continue;
        own(o, r->path);
    }
}

static uint32_t bucket(const char *path, uint32_t buckets)
{
    return ens_java_bucket(ens_java_hash(path), buckets);
}

/* As Java's HashSet hands them out. */
static void sort(struct owned *o)
{
    uint32_t buckets = 16;

    while (buckets < o->n * 4 / 3 + 1)
        buckets *= 2;
    for (uint32_t i = 1; i < o->n; i++) {
        const char *path = o->path[i];
        uint32_t b = bucket(path, buckets), j = i;

        for (; j > 0 && bucket(o->path[j - 1], buckets) > b; j--)
            o->path[j] = o->path[j - 1];
        o->path[j] = path;
    }
}

void ens_prep_close(struct ens_txn *t)
{
    struct owned o = {0};
    const struct ens_rev *parent;
    struct ens_rev of_dir;
    char *dir;

    collect(ens_tree_find("/"), t->session, &o);
    collect_new(t->session, &o);
    sort(&o);
    for (uint32_t i = 0; i < o.n; i++) {
        struct ens_op *s = ens_op_add(t, ENS_DELETE, o.path[i]);

        /* The record's number of children stays: so does ZooKeeper's. */
        parent = ens_prep_look_dir(s->path, &dir);
        of_dir = *parent;
        of_dir.pzxid = ens_number(t->zxid);
        ens_prep_record(dir, t->zxid, &of_dir);
        ens_prep_record(s->path, t->zxid, NULL);
        sim_free(SIM_OUTSIDE, dir);
    }
}
