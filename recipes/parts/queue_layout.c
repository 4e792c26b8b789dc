/* Names and paths of a queue's znodes.
 *
 * How it can fail: names may come from other programs, and are taken for what
 * they are only if every character fits. */
#include "recipes/parts/queue_layout.h"

#include <stdio.h>
#include <string.h>

/* Exactly `n` digits, and then nothing, or `end`. */
static bool digits(const char *text, int n, char end, uint32_t *value)
{
    uint64_t v = 0;

    for (int i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(text[i] - '0');
    }
    *value = (uint32_t)v;
    return text[n] == end && v <= UINT32_MAX;
}

bool evzk__segment_parse(const char *name, struct evzk__segment *seg)
{
    return strncmp(name, "seg-", 4) == 0 &&
           digits(name + 4, 2, '-', &seg->priority) &&
           digits(name + 7, 10, '\0', &seg->number);
}

void evzk__segment_print(char out[EVZK__SEGMENT_NAME],
                         const struct evzk__segment *seg)
{
    snprintf(out, EVZK__SEGMENT_NAME, "seg-%02u-%010u", seg->priority % 100,
             seg->number);
}

static int compare(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

int evzk__segment_compare(const struct evzk__segment *a,
                          const struct evzk__segment *b)
{
    int by_priority = compare(a->priority, b->priority);

    return by_priority != 0 ? by_priority : compare(a->number, b->number);
}

static bool number(const char *text, char end, int32_t *seq)
{
    uint32_t value;

    if (!digits(text, 10, end, &value) || value > INT32_MAX)
        return false;
    *seq = (int32_t)value;
    return true;
}

bool evzk__item_parse(const char *name, int32_t *seq)
{
    const size_t n = sizeof EVZK__QUEUE_ITEM - 1;

    return strncmp(name, EVZK__QUEUE_ITEM, n) == 0 &&
           number(name + n, '\0', seq);
}

bool evzk__claim_parse(const char *name, int32_t *seq)
{
    const size_t n = sizeof EVZK__QUEUE_CLAIM - 1;

    return strncmp(name, EVZK__QUEUE_CLAIM, n) == 0 &&
           number(name + n, '-', seq);
}

bool evzk__plain_item_parse(const char *name, uint32_t *priority, int32_t *seq)
{
    const size_t n = sizeof EVZK__QUEUE_ITEM - 1;

    *priority = 0;
    if (evzk__item_parse(name, seq))
        return true;
    return strncmp(name, EVZK__QUEUE_ITEM, n) == 0 && strlen(name) == n + 12 &&
           digits(name + n, 2, name[n + 2], priority) &&
           number(name + n + 2, '\0', seq);
}

char *evzk__queue_side(char *to, const char *path, evzk_queue_layout layout,
                       const char *name)
{
    const char *side =
        evzk__queue_is_plain(layout) ? EVZK__QUEUE_BESIDE "/" : "/";

    return strcat(strcat(strcpy(to, path), side), name);
}
