/* The items that a consumer has, and what their user is told of them.
 *
 * How it can fail.  A callback may call any function of the library: so a loop
 * over a list takes the first item, until there is none. */
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "recipes/consumer/consumer_internal.h"

void evzk__consumer_tell(struct evzk_consumer *c, evzk_consumer_event event,
                         int rc, struct evzk__item *it)
{
    evzk_session *s = evzk__machine_session(&c->m);
    int64_t begun = evzk__machine_call_out(s);

    if (c->cb)
        c->cb(c, event, rc, it ? &it->pub : NULL, c->arg);
    evzk__machine_called(s, begun);
}

/* Blocks: the item, three paths, the data. */

char *evzk__name_room(struct evzk_consumer *c, uint32_t i)
{
    return c->names + i * (strlen(c->path) + EVZK__QUEUE_NAME);
}

char *evzk__pick_print(const struct evzk_consumer *c, char *to,
                       const struct evzk__pick *pick, const char *mark,
                       const char *tail)
{
    char segment[EVZK__SEGMENT_NAME];

    if (evzk__queue_is_plain(c->opt.layout)) {
        int n = sprintf(to, "%s/%s", c->path, mark);

        if (pick->seg.number > 0)
            n += sprintf(to + n, "%02u", pick->seg.priority % 100);
        sprintf(to + n, "%010d", pick->seq);
        return to;
    }
    evzk__segment_print(segment, &pick->seg);
    sprintf(to, "%s/%s/%s%010d%s", c->path, segment, mark, pick->seq, tail);
    return to;
}

/* In a plain queue the servers give all items their numbers. */
evzk_item evzk__pick_item(const struct evzk_consumer *c,
                          const struct evzk__pick *pick)
{
    bool plain = evzk__queue_is_plain(c->opt.layout);
    uint64_t before = plain ? 0 : (uint64_t)pick->seg.number << 32;

    return (evzk_item){.priority = pick->seg.priority,
                       .number = before | (uint32_t)pick->seq};
}

/* By its znode: see mark.c. */
static uint32_t deliveries_of(const struct evzk__stat *stat)
{
    uint32_t counted = (uint32_t)stat->cversion / 2;
    uint32_t written = (uint32_t)stat->version;

    if (stat->owner != 0)
        return written;
    return counted > written ? counted - written : 0;
}

struct evzk__item *evzk__item_new(struct evzk_consumer *c,
                                  const struct evzk__pick *pick,
                                  const struct evzk__result *res)
{
    size_t room = strlen(c->path) + EVZK__QUEUE_NAME;
    size_t more = EVZK__CLAIM_NAME - EVZK__QUEUE_NAME;
    struct evzk__item *it =
        evzk__zalloc(sizeof *it + 3 * room + more + res->len);
    char *text;

    if (!it)
        return NULL;
    it->of = c;
    text = (char *)(it + 1);
    it->path = evzk__pick_print(c, text, pick, EVZK__QUEUE_ITEM, "");
    it->tried =
        evzk__pick_print(c, text + room, pick, EVZK__QUEUE_ITEM, "/try");
    text += 2 * room;
    it->claim = evzk__pick_print(c, text, pick, EVZK__QUEUE_CLAIM, "-");
    strcat(text, c->guid);
    text += room + more;
    if (res->len > 0)
        memcpy(text, res->data, res->len);
    it->pub = evzk__pick_item(c, pick);
    it->pub.data = text;
    it->pub.len = res->len;
    it->pub.token = (uint64_t)res->stat.czxid;
    it->pick = *pick;
    it->ephemeral = res->stat.owner != 0;
    it->version = res->stat.version;
    if (evzk__consumer_counts(c))
        it->pub.deliveries = deliveries_of(&res->stat) + 1;
    return it;
}

/* Lists. */

static struct evzk__items *list_of(struct evzk_consumer *c,
                                   const struct evzk__item *it, uint32_t **n)
{
    switch (it->state) {
    case EVZK__ITEM_READ:
        *n = &c->n_batch;
        return &c->batch;
    case EVZK__ITEM_HELD:
        *n = &c->n_held;
        return &c->held;
    case EVZK__ITEM_FINISHING:
        *n = &c->n_finishing;
        return &c->finishing;
    case EVZK__ITEM_DOUBTED:
        *n = &c->n_doubted;
        return &c->doubted;
    case EVZK__ITEM_STUCK:
        *n = &c->n_stuck;
        return &c->stuck;
    case EVZK__ITEM_RETURNING:
        break;
    }
    *n = &c->n_returning;
    return &c->returning;
}

static void take_out(struct evzk_consumer *c, struct evzk__item *it)
{
    uint32_t *n;
    struct evzk__items *list = list_of(c, it, &n);

    TAILQ_REMOVE(list, it, link);
    --*n;
}

void evzk__item_move(struct evzk_consumer *c, struct evzk__item *it,
                     enum evzk__item_state state)
{
    struct evzk__items *list;
    uint32_t *n;

    take_out(c, it);
    it->state = state;
    list = list_of(c, it, &n);
    TAILQ_INSERT_TAIL(list, it, link);
    ++*n;
}

void evzk__item_add(struct evzk_consumer *c, struct evzk__item *it)
{
    TAILQ_INSERT_TAIL(&c->batch, it, link);
    c->n_batch++;
}

void evzk__item_drop(struct evzk_consumer *c, struct evzk__item *it)
{
    take_out(c, it);
    evzk__free(it);
}

void evzk__batch_clear(struct evzk_consumer *c)
{
    struct evzk__item *it;

    while ((it = TAILQ_FIRST(&c->batch)) != NULL)
        evzk__item_drop(c, it);
}

void evzk__consumer_free_items(struct evzk_consumer *c)
{
    struct evzk__items *const lists[] = {&c->batch,     &c->held,
                                         &c->finishing, &c->returning,
                                         &c->doubted,   &c->stuck};
    struct evzk__item *it;

    for (int i = 0; i < 6; i++) {
        while ((it = TAILQ_FIRST(lists[i])) != NULL)
            evzk__item_drop(c, it);
    }
}

struct evzk__item *evzk__batch_exhausted(const struct evzk_consumer *c)
{
    struct evzk__item *it;

    TAILQ_FOREACH(it, &c->batch, link)
    {
        if (c->opt.max_deliveries > 0 &&
            it->pub.deliveries > c->opt.max_deliveries)
            return it;
    }
    return NULL;
}

/* The ends of items. */

void evzk__item_end(struct evzk_consumer *c, struct evzk__item *it,
                    evzk_consumer_event event, int rc)
{
    take_out(c, it);
    if (!it->told)
        evzk__consumer_tell(c, event, rc, it);
    evzk__free(it);
}

void evzk__item_give_back(struct evzk_consumer *c, struct evzk__item *it,
                          bool told)
{
    it->told = told;
    evzk__item_move(c, it, EVZK__ITEM_RETURNING);
}

void evzk__item_doubt(struct evzk_consumer *c, struct evzk__item *it, bool told)
{
    it->told = told;
    evzk__item_move(c, it, EVZK__ITEM_DOUBTED);
}

/* The block stays until the claim is given back. */
void evzk__item_lose(struct evzk_consumer *c, struct evzk__item *it, int rc)
{
    bool told = it->told;

    evzk__item_give_back(c, it, true);
    if (!told)
        evzk__consumer_tell(c, EVZK_CONSUMER_LOST, rc, it);
}

void evzk__item_stick(struct evzk_consumer *c, struct evzk__item *it, int rc)
{
    bool told = it->told;

    it->told = true;
    evzk__item_move(c, it, EVZK__ITEM_STUCK);
    if (c->n_stuck == 1)
        c->stuck_until_us =
            evzk__now_us() + evzk__machine_round_ms(&c->m) * INT64_C(1000);
    if (!told)
        evzk__consumer_tell(c, EVZK_CONSUMER_LOST, rc, it);
}

void evzk__stuck_return(struct evzk_consumer *c)
{
    struct evzk__item *it;

    while ((it = TAILQ_FIRST(&c->stuck)) != NULL)
        evzk__item_give_back(c, it, true);
}

static void lose_all(struct evzk_consumer *c, int rc)
{
    struct evzk__item *it;

    while ((it = TAILQ_FIRST(&c->held)) != NULL)
        evzk__item_lose(c, it, rc);
}

void evzk__consumer_lose_gone(struct evzk_consumer *c, int rc)
{
    struct evzk__item *it;

    while ((it = TAILQ_FIRST(&c->held)) != NULL)
        evzk__item_end(c, it, EVZK_CONSUMER_LOST, rc);
}

int evzk__consumer_doubted(struct evzk_consumer *c, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_LEASE_END && !c->m.stopping)
        lose_all(c, EVZK_ERR_LEASE);
    return EVZK_OK;
}

bool evzk__item_is_old(const struct evzk_consumer *c,
                       const struct evzk__item *it)
{
    return it->session_no != c->m.seen.session_no;
}

/* Items are in the order in which they were asked for: those of the earlier
 * session come first. */
void evzk__consumer_drop_old(struct evzk_consumer *c)
{
    struct evzk__item *it;

    while ((it = TAILQ_FIRST(&c->finishing)) != NULL &&
           evzk__item_is_old(c, it))
        evzk__item_end(c, it, EVZK_CONSUMER_LOST, EVZK_ERR_EXPIRED);
    while ((it = TAILQ_FIRST(&c->returning)) != NULL &&
           evzk__item_is_old(c, it))
        evzk__item_end(c, it, EVZK_CONSUMER_GIVEN_BACK, EVZK_OK);
    while ((it = TAILQ_FIRST(&c->doubted)) != NULL && evzk__item_is_old(c, it))
        evzk__item_end(c, it, EVZK_CONSUMER_GIVEN_BACK, EVZK_OK);
    while ((it = TAILQ_FIRST(&c->stuck)) != NULL && evzk__item_is_old(c, it))
        evzk__item_drop(c, it);
}

/* The user knows nothing of these items. */
void evzk__batch_give_back(struct evzk_consumer *c)
{
    struct evzk__item *it;

    while (c->change == EVZK__CLAIMED && (it = TAILQ_FIRST(&c->batch)) != NULL)
        evzk__item_give_back(c, it, true);
    evzk__batch_clear(c);
    c->change = EVZK__NO_CHANGE;
}

void evzk__consumer_return_all(struct evzk_consumer *c)
{
    struct evzk__item *it;

    evzk__batch_give_back(c);
    while ((it = TAILQ_FIRST(&c->held)) != NULL)
        evzk__item_give_back(c, it, false);
}

/* What the consumer wants. */

/* The items that it may take beside those that are held; in one turn at most
 * `prefetch`, so that the others have theirs. */
static uint32_t credit(const struct evzk_consumer *c)
{
    uint32_t most = c->opt.prefetch, held = c->n_held + c->n_finishing;
    uint32_t free = most > held ? most - held : 0;

    if (!c->turn && held > 0 && free < (most + 1) / 2)
        return 0;
    return evzk__least(free, most - c->turn_got);
}

uint32_t evzk__consumer_wants(const struct evzk_consumer *c)
{
    if (!evzk__may_tell(evzk__machine_session(&c->m)))
        return 0;
    if (c->opt.prefetch > 0)
        return credit(c);
    return c->take.on && c->take.rc == EVZK_OK ? c->take.max - c->take.got : 0;
}

void evzk__take_end(struct evzk_consumer *c)
{
    int rc = c->take.got > 0 ? EVZK_OK : c->take.rc;

    c->take = (struct evzk__take){0};
    evzk__machine_set_deadline(&c->m, 0);
    evzk__consumer_tell(c, EVZK_CONSUMER_TAKEN, rc, NULL);
}
