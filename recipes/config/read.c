/* Reads a configuration once, or follows it.
 *
 *   LOOKING --> READING --> WATCHING --> ENDED
 *    ^  |          |         |  ^         ^
 *    |  |          +---------|--|---------|
 *    |  +----------|---------|--|         |
 *    |  `----------|---------|--+-- ROOTING
 *    `-------------+---------'
 *
 * LOOKING goes behind a sync.  It lists the keys and reads `ready`, with a
 * watch, there or not.  READING reads the keys, back to back.  If no event of
 * `ready` came before the last answer, all answers are of the one
 * configuration: events and answers of one connection come in the order in
 * which things happened, and whoever changes a key has first deleted `ready`.
 * In WATCHING there is nothing to read; a query waits there, too, for `ready`.
 * Where no configuration was told, the session's chroot may be missing, too:
 * that is an error, so it is looked for (ROOTING).
 *
 * How it can fail.
 *
 * - The list of keys is older than `ready`: its pzxid is less than the czxid of
 *   `ready`, which was a change of that list itself.  Then LOOKING is entered
 *   again.  Where zxids began anew, a list that was changed since looks older
 *   for ever: so only some times, and in pauses.
 * - The connection is lost: the next one begins with LOOKING, behind a sync.  A
 *   number that is less than the last one told is old, and is looked at again,
 *   unless history has begun anew (parts/history.h).
 * - The configuration may not be read any more: a follower that has told one
 *   waits until it may.
 * - A key may not be read for now, as servers say that throttle: LOOKING begins
 *   again, some times.
 * - The servers hang up at what is asked, each time: a follower ends with that,
 *   too.  A connection that ends at each try is no way to wait.
 * - An operator deletes a key: READING finds it gone, and LOOKING begins again.
 * - An operator writes a key and leaves `ready`: nothing tells of that.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/config/config_internal.h"
#include "recipes/kinds.h"
#include "recipes/parts/rooted.h"

enum { LOOKING, ROOTING, READING, WATCHING, ENDED, STATES };

static struct evzk__config_read *read_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__config_read, m);
}

static void forget(struct evzk__config_read *r)
{
    for (uint32_t i = 0; r->key && i < r->all.n; i++)
        evzk__free((void *)(uintptr_t)r->key[i].data);
    evzk__free(r->key);
    r->key = NULL;
    evzk__read_all_clear(&r->all);
}

/* ---- LOOKING ---- */

enum { SYNCED, LISTED, READY };

static void look(struct evzk__machine *m)
{
    static const struct evzk__step steps[] = {
        [SYNCED] = {.verb = EVZK__STEP_SYNC, .name = "", .shared = true},
        [LISTED] = {.verb = EVZK__STEP_CHILDREN, .name = ""},
        [READY] = {.verb = EVZK__STEP_GET,
                   .name = EVZK__CONFIG_READY,
                   .watch = EVZK__WITH(EVZK__OWN),
                   .or_absent = true}};
    struct evzk__config_read *r = read_of(m);

    forget(r);
    r->lacks_memory = r->misses = r->denied = false;
    r->listed_at = 0;
    evzk__ask(m, steps, 3, EVZK__EACH);
}

static void take_list(struct evzk__config_read *r,
                      const struct evzk__reply *reply)
{
    r->list_rc = reply->rc == EVZK_ERR_NONODE ? EVZK_OK : reply->rc;
    if (reply->rc != EVZK_OK)
        return;
    forget(r); /* The answer to a repeated request may come twice. */
    r->listed_at = reply->res->stat.pzxid;
    if (evzk__read_all_take(&r->all, "", &reply->res->names) == EVZK_OK) {
        evzk__config_sort(&r->all);
        r->key = evzk__zalloc((r->all.n + 1) * sizeof *r->key);
    }
    r->lacks_memory = r->key == NULL;
}

static uint64_t print_of(const struct evzk__config_read *r)
{
    uint64_t print = 0;

    for (uint32_t i = 0; i < r->all.n; i++) {
        const evzk_config_key *k = &r->key[i];

        print = evzk__history_print(print, k->name, strlen(k->name) + 1);
        print = evzk__history_print(print, &k->len, sizeof k->len);
        print = evzk__history_print(print, k->data, k->len);
    }
    return print;
}

static int tell(struct evzk__machine *m)
{
    struct evzk__config_read *r = read_of(m);
    evzk_config c = {r->number, r->key, r->all.n};
    uint64_t print = print_of(r);
    bool news = r->number != r->told || print != r->told_print;

    if (!r->follows)
        return evzk__machine_finish(m, EVZK_OK);
    evzk__machine_move(m, WATCHING);
    r->told = r->number;
    r->told_print = print;
    r->refusals = 0;
    if (news)
        r->tell(r, EVZK_OK, &c);
    forget(r);
    return EVZK_OK;
}

/* Something may not be read.  A follower that has told a configuration goes on
 * when it hears of `ready`, or in a while. */
static bool waits_for_right(const struct evzk__config_read *r, int rc)
{
    return rc == EVZK_ERR_NOAUTH && r->told;
}

static int wait_for_right(struct evzk__machine *m)
{
    evzk__watch_doubt(m, EVZK__OWN);
    return evzk__machine_move(m, WATCHING);
}

/* `ready` was read. */
static int found(struct evzk__machine *m, int64_t number)
{
    struct evzk__config_read *r = read_of(m);
    bool another = evzk__history_is_another(&r->history, m);

    if (waits_for_right(r, r->list_rc))
        return wait_for_right(m);
    if (number != r->told && r->list_rc != EVZK_OK)
        return r->list_rc;
    if (evzk__history_doubts(&r->history, m, number < r->told))
        return evzk__machine_again_later(m);
    if (number == r->told && !another)
        return evzk__machine_move(m, WATCHING);
    if (evzk__config_lists_again(m, &r->older, r->listed_at < number))
        return EVZK_OK;
    r->number = number;
    return r->all.n > 0 ? evzk__machine_move(m, READING) : tell(m);
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__config_read *r = read_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == LISTED && !reply->last)
        take_list(r, reply);
    if (!reply->last)
        return EVZK_OK;
    if (reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NONODE)
        return reply->first_rc;
    if (waits_for_right(r, reply->rc))
        return wait_for_right(m);
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (r->lacks_memory || evzk__watch_missing(m, EVZK__OWN))
        return evzk__machine_again_later(m);
    if (reply->rc == EVZK_OK)
        return found(m, reply->res->stat.czxid);
    return evzk__machine_move(m, !r->told && evzk__chroot_unsure(m) ? ROOTING
                                                                    : WATCHING);
}

static int rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    return rc != EVZK_OK ? rc : evzk__machine_move(m, WATCHING);
}

/* ---- READING ---- */

static void read_keys(struct evzk__machine *m)
{
    evzk__read_all_ask(m, &read_of(m)->all);
}

static void take_key(struct evzk__config_read *r,
                     const struct evzk__reply *reply)
{
    evzk_config_key *key = &r->key[reply->part];

    key->name = r->all.names[reply->part];
    key->len = reply->res->len;
    key->data = evzk__memdup(reply->res->data, reply->res->len);
    r->lacks_memory = r->lacks_memory || !key->data;
}

static void take_answer(struct evzk__config_read *r,
                        const struct evzk__reply *reply)
{
    if (reply->rc == EVZK_OK)
        take_key(r, reply);
    r->misses = r->misses || reply->rc == EVZK_ERR_NONODE;
    r->denied = r->denied || reply->rc == EVZK_ERR_NOAUTH;
}

/* Is a key missing for now only?  Then all is read again, in a while. */
static bool is_for_now(struct evzk__config_read *r, int rc)
{
    return rc == EVZK_ERR_NOMEM || r->lacks_memory ||
           (rc == EVZK_ERR_SERVER && r->refusals++ < EVZK__CONFIG_REFUSALS);
}

/* All was answered: was it of one configuration? */
static int judge(struct evzk__machine *m, int rc)
{
    struct evzk__config_read *r = read_of(m);
    bool for_now = is_for_now(r, rc);

    if (for_now)
        evzk__machine_pause(m);
    if (rc == EVZK_ERR_CONNLOSS || for_now)
        return evzk__machine_move(m, LOOKING);
    if (rc == EVZK_ERR_TOOLARGE)
        return rc; /* Its connection is lost, and so is the watch. */
    if (evzk__watch_fires(m, EVZK__OWN) || evzk__watch_missing(m, EVZK__OWN))
        return evzk__machine_move(m, WATCHING);
    if (rc != EVZK_OK)
        return rc;
    if (r->denied && waits_for_right(r, EVZK_ERR_NOAUTH))
        return wait_for_right(m);
    if (r->denied)
        return EVZK_ERR_NOAUTH;
    return r->misses ? evzk__machine_move(m, LOOKING) : tell(m);
}

static int was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__config_read *r = read_of(m);
    int rc;

    take_answer(r, e->reply);
    if (!evzk__read_all_note(&r->all, e->reply, &rc))
        return EVZK_OK; /* More are to come. */
    return judge(m, rc);
}

/* ---- WATCHING ---- */

/* The watch was lost with its connection: `ready` is read again. */
static void watch(struct evzk__machine *m)
{
    if (evzk__watch_missing(m, EVZK__OWN))
        evzk__machine_move(m, LOOKING);
}

static int watched(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LOOKING);
}

static void end(struct evzk__machine *m)
{
    struct evzk__config_read *r = read_of(m);
    evzk_config c = {r->number, r->key, r->all.n};

    if (r->over)
        return;
    r->over = true;
    r->tell(r, m->rc, m->rc == EVZK_OK ? &c : NULL);
}

/* A cancel and a time-out do not wait for an answer. */
static void on_stop(struct evzk__machine *m, const struct evzk__reply *reply)
{
    if (!reply)
        end(m);
}

/* The machine is the first member of a query, and of a follower. */
static void destroy(struct evzk__machine *m)
{
    forget(read_of(m));
    evzk__free(read_of(m));
}

static void on_deadline(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry      reaction  main      on stop  on expiry  flags */
ROW(LOOKING,  look,      looked,   READING,  ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY,       READING, WATCHING, ROOTING, LOOKING, ENDED, HERE, FAIL)),
ROW(ROOTING,  evzk__look_root, rooted, ASIDE,  ENDED,   LOOKING,   RETRY,
    ON(ENTRY,       LOOKING),
    ON(REPLY,       WATCHING, FAIL),
    ON(EXPIRED,     NEVER)),
ROW(READING,  read_keys, was_read, WATCHING, ENDED,   LOOKING,   0,
    ON(REPLY,       WATCHING, LOOKING, ENDED, HERE, FAIL),
    ON(EXPIRED,     NEVER)),
ROW(WATCHING, watch,     watched,  ENDED,    ENDED,   LOOKING,   RETRY,
    ON(ENTRY,       LOOKING),
    ON(OWN_DELETED, LOOKING),
    ON(OWN_CHANGED, LOOKING),
    ON(EXPIRED,     NEVER)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__config_read_kind = {.name = "config-read",
                                                  .rows = rows,
                                                  .n_rows = STATES,
                                                  .on_deadline = on_deadline,
                                                  .on_stop = on_stop,
                                                  .destroy = destroy};
