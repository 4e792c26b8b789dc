/* The text of `ready`, and the participants in a listing.
 *
 * How it can fail.  Anybody can write to `ready`: a text that this file would
 * not write is refused. */
#include "recipes/double_barrier/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

const struct evzk__mark evzk__round_marks[] = {{EVZK__IN, EVZK__WHOLE},
                                               {NULL, 0}};

size_t evzk__round_print(char text[EVZK__ROUND_TEXT],
                         const struct evzk__round *round)
{
    return (size_t)snprintf(text, EVZK__ROUND_TEXT,
                            "evzk 1 %" PRId32 " %" PRId64 " %s", round->last,
                            round->dir, round->first);
}

/* Only what evzk__round_print() would write counts. */
bool evzk__round_parse(struct evzk__round *round, const void *data, size_t len)
{
    char text[EVZK__ROUND_TEXT], again[EVZK__ROUND_TEXT];
    struct evzk__contender first;
    const char *name;

    if (len == 0 || len >= sizeof text || memchr(data, '\0', len))
        return false;
    memcpy(text, data, len);
    text[len] = '\0';
    name = strrchr(text, ' ');
    if (!name || !evzk__contender_parse(name + 1, evzk__round_marks, &first) ||
        sscanf(text, "evzk 1 %" SCNd32 " %" SCNd64, &round->last,
               &round->dir) != 2)
        return false;
    strcpy(round->first, name + 1);
    return evzk__round_print(again, round) == len && strcmp(again, text) == 0;
}

bool evzk__round_covers(const struct evzk__round *round, int32_t seq)
{
    return !evzk__seq_before("", round->last, "", seq);
}

static bool parse(const char *name, struct evzk__contender *c)
{
    return evzk__contender_parse(name, evzk__round_marks, c);
}

/* Does a come before b?  False if one of them is no participant's name. */
static bool is_before(const char *a, const char *b)
{
    struct evzk__contender ca, cb;

    return parse(a, &ca) && parse(b, &cb) && evzk__contender_before(&ca, &cb);
}

struct evzk__round_left evzk__round_left(const struct evzk__round *round,
                                         const char *past_low,
                                         const char *past_high,
                                         const struct evzk__names *names)
{
    struct evzk__round_left left = {0};
    struct evzk__contender c, low = {0}, high = {0};

    for (size_t i = 0; i < names->n; i++) {
        if (!parse(names->v[i], &c) || !evzk__round_covers(round, c.seq) ||
            (past_low[0] && !is_before(past_low, c.name)) ||
            (past_high[0] && !is_before(c.name, past_high)))
            continue;
        if (left.n == 0 || evzk__contender_before(&c, &low))
            low = c;
        if (left.n == 0 || evzk__contender_before(&high, &c))
            high = c;
        left.n++;
    }
    left.lowest = low.name;
    left.highest = high.name;
    return left;
}

static int in_order(const void *a, const void *b)
{
    return evzk__contender_before(a, b)   ? -1
           : evzk__contender_before(b, a) ? 1
                                          : 0;
}

struct evzk__contender *evzk__round_sort(const struct evzk__names *names,
                                         size_t *n)
{
    struct evzk__contender *v = evzk__zalloc((names->n + 1) * sizeof *v);

    *n = 0;
    if (!v)
        return NULL;
    for (size_t i = 0; i < names->n; i++)
        *n += evzk__contender_parse(names->v[i], evzk__round_marks, &v[*n]);
    qsort(v, *n, sizeof *v, in_order);
    return v;
}
