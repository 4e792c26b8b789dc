/* Many creates or deletes in large transactions; see batch.h. */
#include "batch.h"

#include <event2/event.h>
#include <string.h>

#include "bench.h"

enum { LOCKS = 200, OPS = 2 * LOCKS, FLYING = 8 };

/* As long as the names that the library gives. */
static const char contender[] = "00000000-0000-0000-0000-000000000000-lock-";

struct batch {
    int n;
    zoo_op_t op[OPS];
    zoo_op_result_t result[OPS];
    char path[OPS][PATH_SIZE];
    char made[OPS][PATH_SIZE];
};

static const char text[VALUE_SIZE];

static struct plain *client;
static struct batch batches[FLYING];
static int flying;

static bool harmless(int rc) { return rc == ZNODEEXISTS || rc == ZNONODE; }

static void on_single(int rc, const void *data)
{
    (void)data;
    if (rc != ZOK && !harmless(rc))
        fail("a preparation failed: %s", zerror(rc));
    flying--;
}

static void on_made(int rc, const char *value, const void *data)
{
    (void)value;
    on_single(rc, data);
}

static void one_by_one(const struct batch *b)
{
    for (int k = 0; k < b->n; k++) {
        const zoo_op_t *op = &b->op[k];

        flying++;
        if (op->type == ZOO_CREATE_OP)
            zoo_acreate(client->zh, b->path[k], op->create_op.data,
                        op->create_op.datalen, &ZOO_OPEN_ACL_UNSAFE,
                        op->create_op.flags, on_made, NULL);
        else
            zoo_adelete(client->zh, b->path[k], -1, on_single, NULL);
    }
}

static void on_batch(int rc, const void *data)
{
    const struct batch *b = data;
    struct batch *mine = &batches[b - batches];

    if (rc != ZOK && !harmless(rc))
        fail("a preparation failed: %s", zerror(rc));
    if (rc != ZOK)
        one_by_one(mine);
    mine->n = 0;
    flying--;
}

static void add_create(struct batch *b, const char *path, int flags, int len)
{
    int k = b->n++;

    snprintf(b->path[k], PATH_SIZE, "%s", path);
    zoo_create_op_init(&b->op[k], b->path[k], len > 0 ? text : NULL, len,
                       &ZOO_OPEN_ACL_UNSAFE, flags, b->made[k], PATH_SIZE);
}

static void add_lock(struct batch *b, enum batch_kind kind, const char *dir)
{
    char path[PATH_SIZE];
    int k = b->n;

    if (kind & BATCH_DIRS)
        add_create(b, dir, 0, -1);
    if (kind == BATCH_VALUES)
        add_create(b, dir, 0, sizeof text);
    snprintf(path, sizeof path, "%.100s/%s", dir, contender);
    if (kind & BATCH_NODES)
        add_create(b, path, ZOO_EPHEMERAL | ZOO_SEQUENCE, -1);
    if (kind == BATCH_DELETE) {
        snprintf(b->path[k], PATH_SIZE, "%s", dir);
        zoo_delete_op_init(&b->op[k], b->path[k], -1);
        b->n++;
    }
}

static struct batch *idle_batch(void)
{
    for (;;) {
        for (int k = 0; k < FLYING; k++)
            if (batches[k].n == 0)
                return &batches[k];
        event_base_loop(client->base, EVLOOP_ONCE);
    }
}

static void send_batch(struct batch *b)
{
    int rc = zoo_amulti(client->zh, b->n, b->op, b->result, on_batch, b);

    if (rc != ZOK)
        fail("a preparation failed: %s", zerror(rc));
    flying++;
    plain_kick(client);
}

void batch_run(struct plain *p, enum batch_kind kind, const char *dir, int n,
               int step, bool one)
{
    struct run where = {.dir = dir, .one = one};
    char path[PATH_SIZE];

    client = p;
    for (int i = 0; i < n;) {
        struct batch *b = idle_batch();

        for (int k = 0; k < LOCKS && i < n; k++, i += step) {
            run_path(&where, i, path);
            add_lock(b, kind, path);
        }
        send_batch(b);
    }
    while (flying > 0)
        event_base_loop(p->base, EVLOOP_ONCE);
}
