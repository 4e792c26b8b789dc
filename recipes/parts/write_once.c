/* Writes the data of one znode.
 *
 *   WRITING --> ENDED
 *
 * How it can fail.  A write of unknown outcome is repeated.  The second write
 * may replace what another session has written in between: use this only for a
 * znode that no other session writes.
 */
#include "recipes/parts/write_once.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"

struct evzk__write_once {
    struct evzk__machine m;
    struct evzk__step set;
    evzk__write_once_cb *cb;
    void *arg;
    char text[]; /* The name, a zero byte, the data. */
};

enum { WRITING, ENDED, STATES };

static struct evzk__write_once *write_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__write_once, m);
}

static void send(struct evzk__machine *m)
{
    evzk__ask(m, &write_of(m)->set, 1, 0);
}

static int sent(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    return evzk__machine_finish(m, EVZK_OK);
}

static void end(struct evzk__machine *m)
{
    struct evzk__write_once *o = write_of(m);

    if (o->cb)
        o->cb(o->arg, m->rc);
}

static void destroy(struct evzk__machine *m) { evzk__free(write_of(m)); }

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state    entry  reaction  main   on stop  on expiry  flags */
ROW(WRITING, send,  sent,     ENDED, ENDED,   ENDED,     RETRY|NOTHING_SENT,
    ON(REPLY, ENDED, FAIL)),
END(ENDED,   end),
};
/* clang-format on */

const struct evzk__kind evzk__write_once_kind = {
    .name = "write-once", .rows = rows, .n_rows = STATES, .destroy = destroy};

int evzk__write_once(evzk_session *s, const char *path, const char *name,
                     const void *data, size_t len, evzk__write_once_cb *cb,
                     void *arg, struct evzk__write_once **out)
{
    size_t n = strlen(name) + 1;
    struct evzk__write_once *o = evzk__zalloc(sizeof *o + n + len);
    int rc;

    if (!o)
        return EVZK_ERR_NOMEM;
    memcpy(o->text, name, n);
    memcpy(o->text + n, data, len);
    o->set = (struct evzk__step){.verb = EVZK__STEP_SET,
                                 .name = o->text,
                                 .data = o->text + n,
                                 .len = (uint32_t)len};
    o->cb = cb;
    o->arg = arg;
    rc = evzk__machine_begin(&o->m, s, &evzk__write_once_kind, path, 0);
    if (rc == EVZK_OK)
        *out = o;
    return rc;
}

void evzk__write_once_free(struct evzk__write_once *o)
{
    if (o) {
        o->cb = NULL;
        evzk__machine_let_go(&o->m);
    }
}
