/* Looks up transactions: which there are, then which coordinators' sessions
 * live, then what each transaction says.
 *
 *   LISTING --> LIVING --> READING --> ENDED
 *     ^  |        |           |          ^
 *     |--|--------'-----------'          |
 *        `--------------> ROOTING -------'
 *
 * The sessions are listed behind the transactions: so each transaction that was
 * seen has the znode of its session, if that lives.  If nothing is there, the
 * chroot may not exist either, which is an error: ROOTING finds out.
 *
 * How it can fail.  If a reply is lost in the middle, the look-up starts again:
 * another server may know less.
 */
#include "recipes/two_phase/two_phase_internal.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/parts/read_all.h"
#include "recipes/parts/rooted.h"

struct evzk_tx_query {
    struct evzk__machine m;
    struct evzk__read_all living; /* Sessions; their names. */
    struct evzk__read_all all;    /* Transactions. */
    evzk_tx_info *v;              /* Owned; its ids are of `all`. */
    size_t n;
    bool no_memory;
    evzk_tx_query_cb *cb;
    void *arg;
};

enum { LISTING, LIVING, READING, ROOTING, ENDED, STATES };

static struct evzk_tx_query *query_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_tx_query, m);
}

static void clear(struct evzk_tx_query *q)
{
    evzk__read_all_clear(&q->living);
    evzk__read_all_clear(&q->all);
    evzk__free(q->v);
    q->v = NULL;
    q->n = 0;
    q->no_memory = false;
}

static void list_txs(struct evzk__machine *m)
{
    static const struct evzk__step steps[] = {
        {.verb = EVZK__STEP_SYNC, .shared = true},
        {.verb = EVZK__STEP_CHILDREN, .name = EVZK__TX_DIR}};

    clear(query_of(m));
    evzk__ask(m, steps, 2, 0);
}

static int txs_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx_query *q = query_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_NONODE)
        return evzk__chroot_unsure(m) ? evzk__machine_move(m, ROOTING)
                                      : evzk__machine_finish(m, EVZK_OK);
    if (r->first_rc != EVZK_OK || r->rc != EVZK_OK)
        return r->first_rc != EVZK_OK ? r->first_rc : r->rc;
    if (r->res->names.n == 0)
        return evzk__machine_finish(m, EVZK_OK);
    q->v = evzk__zalloc(r->res->names.n * sizeof *q->v);
    if (!q->v || evzk__read_all_take(&q->all, EVZK__TX_DIR, &r->res->names))
        return EVZK_ERR_NOMEM;
    return evzk__machine_move(m, LIVING);
}

static void list_living(struct evzk__machine *m)
{
    static const struct evzk__step step = {.verb = EVZK__STEP_CHILDREN,
                                           .name = EVZK__COORDINATORS};

    evzk__ask(m, &step, 1, 0);
}

static int living_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx_query *q = query_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_CONNLOSS || r->rc == EVZK_ERR_NOMEM)
        return evzk__machine_move(m, LISTING);
    if (r->rc != EVZK_OK && r->rc != EVZK_ERR_NONODE)
        return r->rc;
    if (r->rc == EVZK_OK &&
        evzk__read_all_take(&q->living, "", &r->res->names) != EVZK_OK)
        return EVZK_ERR_NOMEM;
    return evzk__machine_move(m, READING);
}

static void read_each(struct evzk__machine *m)
{
    evzk__read_all_ask(m, &query_of(m)->all);
}

static bool lives(const struct evzk_tx_query *q, const char *tag)
{
    for (uint32_t i = 0; i < q->living.n; i++) {
        if (strcmp(q->living.names[i], tag) == 0)
            return true;
    }
    return false;
}

/* Znodes that are no transactions are left out, by their name; but not what
 * cannot be read. */
static int note(struct evzk_tx_query *q, const struct evzk__reply *r)
{
    evzk_tx_info *info = &q->v[q->n];
    struct evzk__tx_text text = {0};
    const char *id = evzk__read_all_name(&q->all, r);
    int rc;

    if ((r->rc != EVZK_OK && r->rc != EVZK_ERR_NOAUTH) || !evzk__is_tx_id(id))
        return EVZK_OK;
    *info = (evzk_tx_info){.id = id};
    rc = r->rc == EVZK_OK
             ? evzk__tx_text_parse(&text, r->res->data, r->res->len)
             : EVZK_ERR_FOREIGN;
    info->hidden = rc == EVZK_ERR_FOREIGN;
    if (rc == EVZK_OK) {
        info->orphan = !lives(q, text.tag);
        info->variant = text.variant;
        info->decision = evzk__tx_text_decision(r->res->data, r->res->len);
        info->token = info->decision ? r->res->stat.mzxid : 0;
        info->created_ms = r->res->stat.ctime_ms;
    }
    evzk__tx_text_free(&text);
    if (rc == EVZK_ERR_NOMEM)
        return rc;
    q->n++;
    return EVZK_OK;
}

static int was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx_query *q = query_of(m);
    int rc;

    if (note(q, e->reply) != EVZK_OK)
        q->no_memory = true;
    if (!evzk__read_all_note(&q->all, e->reply, &rc))
        return EVZK_OK;
    if (rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, LISTING);
    if (rc != EVZK_OK || q->no_memory)
        return rc != EVZK_OK ? rc : EVZK_ERR_NOMEM;
    return evzk__machine_finish(m, EVZK_OK);
}

static void end(struct evzk__machine *m)
{
    struct evzk_tx_query *q = query_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);
    size_t n = m->rc == EVZK_OK ? q->n : 0;

    if (q->cb)
        q->cb(q, m->rc, n ? q->v : NULL, n, q->arg);
    evzk__machine_called(s, begun);
}

static void destroy(struct evzk__machine *m)
{
    clear(query_of(m));
    evzk__free(query_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state    entry              reaction       main     on stop  on expiry  flags */
ROW(LISTING, list_txs,          txs_listed,    LIVING,  ENDED,   LISTING,   NOTHING_SENT|RETRY,
    ON(REPLY, LIVING, ROOTING, ENDED, FAIL)),
ROW(LIVING,  list_living,       living_listed, READING, ENDED,   LISTING,   0,
    ON(REPLY, READING, LISTING, FAIL),
    RARELY(EXPIRED, LISTING)), /* As in READING. */
ROW(READING, read_each,         was_read,      ENDED,   ENDED,   LISTING,   0,
    ON(REPLY, ENDED, LISTING, FAIL, HERE),
    RARELY(EXPIRED, LISTING)), /* The lost connection leads to LISTING first. */
ROW(ROOTING, evzk__look_chroot, evzk__rooted,  ASIDE,   ENDED,   LISTING,   RETRY,
    ON(REPLY, ENDED, FAIL)),
END(ENDED,   end),
};
/* clang-format on */

const struct evzk__kind evzk__tx_query_kind = {
    .name = "tx-query", .rows = rows, .n_rows = STATES, .destroy = destroy};

int evzk_tx_query_start(evzk_session *s, const char *root, evzk_tx_query_cb *cb,
                        void *arg, evzk_tx_query **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_tx_query *q;
    int rc;

    if (evzk__broken_start(&call, s, root, cb != NULL, out != NULL) ||
        evzk__broken_tx_root(&call, s, root))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    q = evzk__zalloc(sizeof *q);
    if (!q)
        return EVZK_ERR_NOMEM;
    q->cb = cb;
    q->arg = arg;
    rc = evzk__machine_begin(&q->m, s, &evzk__tx_query_kind, root, 0);
    if (rc == EVZK_OK)
        *out = q;
    return rc;
}

void evzk_tx_query_free(evzk_tx_query *query)
{
    if (query) {
        query->cb = NULL;
        evzk__machine_let_go(&query->m);
    }
}
