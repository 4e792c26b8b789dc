/* Counts the items of a queue, and keeps the first ones: a look's arithmetic.
 *
 * How it can fail: a listing may hold any names.  Names of other forms than an
 * item's or a claim's are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/queue/query_internal.h"

void evzk__count_clear(struct evzk__count *c)
{
    uint32_t peek = c->peek;

    evzk__free(c->segments);
    evzk__read_all_clear(&c->lists);
    *c = (struct evzk__count){.peek = peek};
}

static int in_order(const void *a, const void *b)
{
    return evzk__segment_compare(a, b);
}

static int print_names(struct evzk__count *c)
{
    char(*text)[EVZK__SEGMENT_NAME] =
        evzk__zalloc(c->n_segments * sizeof *text);
    char **v = evzk__zalloc(c->n_segments * sizeof *v);
    struct evzk__names names = {.n = c->n_segments, .v = v};
    int rc = text && v ? EVZK_OK : EVZK_ERR_NOMEM;

    for (uint32_t i = 0; rc == EVZK_OK && i < c->n_segments; i++) {
        evzk__segment_print(text[i], &c->segments[i]);
        v[i] = text[i];
    }
    if (rc == EVZK_OK)
        rc = evzk__read_all_take(&c->lists, "", &names);
    evzk__free(text);
    evzk__free(v);
    return rc;
}

int evzk__count_segments(struct evzk__count *c, const struct evzk__names *names)
{
    c->segments = evzk__zalloc((names->n + 1) * sizeof *c->segments);
    if (!c->segments)
        return EVZK_ERR_NOMEM;
    for (size_t i = 0; i < names->n; i++) {
        if (evzk__segment_parse(names->v[i], &c->segments[c->n_segments]))
            c->n_segments++;
    }
    if (c->n_segments == 0)
        return EVZK_OK;
    qsort(c->segments, c->n_segments, sizeof *c->segments, in_order);
    return print_names(c);
}

/* Segments are visited in order, so of two items the one with the lower segment
 * comes first. */
static bool is_before(const struct evzk__peeked *a,
                      const struct evzk__peeked *b)
{
    if (a->segment != b->segment)
        return a->segment < b->segment;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    return a->seq < b->seq;
}

/* Keeps the item, if it is one of the first. */
static void peek(struct evzk__count *c, struct evzk__peeked item)
{
    uint32_t i = c->n_peeked;

    if (i == c->peek) {
        if (i == 0 || !is_before(&item, &c->peeked[i - 1]))
            return;
        i--;
    } else
        c->n_peeked++;
    for (; i > 0 && is_before(&item, &c->peeked[i - 1]); i--)
        c->peeked[i] = c->peeked[i - 1];
    c->peeked[i] = item;
}

static void mark_claimed(struct evzk__count *c, uint32_t segment, int32_t seq)
{
    for (uint32_t i = 0; i < c->n_peeked; i++) {
        if (c->peeked[i].segment == segment && c->peeked[i].seq == seq)
            c->peeked[i].claimed = true;
    }
}

void evzk__count_segment(struct evzk__count *c, uint32_t i,
                         const struct evzk__names *names)
{
    struct evzk__peeked item = {.segment = i,
                                .priority = c->segments[i].priority};
    int32_t seq;

    for (size_t k = 0; k < names->n; k++) {
        if (!evzk__item_parse(names->v[k], &item.seq))
            continue;
        c->size++;
        peek(c, item);
    }
    for (size_t k = 0; k < names->n; k++) {
        if (!evzk__claim_parse(names->v[k], &seq))
            continue;
        c->claimed++;
        mark_claimed(c, i, seq);
    }
}

void evzk__count_plain(struct evzk__count *c, const struct evzk__names *names)
{
    struct evzk__peeked item = {0};

    for (size_t k = 0; k < names->n; k++) {
        if (!evzk__plain_item_parse(names->v[k], &item.priority, &item.seq))
            continue;
        c->size++;
        peek(c, item);
    }
}

static void print_item(const struct evzk__count *c, evzk_queue_layout layout,
                       const struct evzk__peeked *p, char *to, size_t size)
{
    if (layout == EVZK_QUEUE_PLAIN)
        snprintf(to, size, EVZK__QUEUE_ITEM "%010d", (int)p->seq);
    else if (layout == EVZK_QUEUE_PLAIN_PRIORITY)
        snprintf(to, size, EVZK__QUEUE_ITEM "%02u%010d", p->priority % 100,
                 (int)p->seq);
    else
        snprintf(to, size, "%s/" EVZK__QUEUE_ITEM "%010d",
                 c->lists.names[p->segment], (int)p->seq);
}

int evzk__count_names(const struct evzk__count *c, evzk_queue_layout layout,
                      struct evzk__read_all *all)
{
    char text[EVZK_QUEUE_PEEK_MAX][EVZK__QUEUE_NAME];
    char *v[EVZK_QUEUE_PEEK_MAX];

    for (uint32_t i = 0; i < c->n_peeked; i++) {
        print_item(c, layout, &c->peeked[i], text[i], sizeof text[i]);
        v[i] = text[i];
    }
    return evzk__read_all_take(
        all, "", &(const struct evzk__names){.n = c->n_peeked, .v = v});
}
