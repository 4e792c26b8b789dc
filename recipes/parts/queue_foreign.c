/* Tells the items of other libraries' queues: see queue_foreign.h.
 *
 * Curator's frame is a version, an item or several with their lengths, and an
 * end.  It is told from other data only if all of it fits, to the last byte.
 *
 * How it can fail: an item of a program of the recipes page whose data look
 * exactly like that frame. */
#include "recipes/parts/queue_foreign.h"

#include <stdint.h>
#include <string.h>

#include "recipes/parts/queue_layout.h"

enum { SEQUENCE = 10 };

static bool all_in(const char *text, size_t n, const char *set)
{
    return strspn(text, set) >= n;
}

static bool ends_in_sequence(const char *text)
{
    return strlen(text) == SEQUENCE && all_in(text, SEQUENCE, "0123456789");
}

/* Behind "queue-": a priority of nine hexadecimal digits, or an id or a time
 * between two bars. */
static bool is_of_curator(const char *rest)
{
    const size_t priority = 9;

    if (rest[0] == '|')
        return strchr(rest + 1, '|') != NULL;
    return (rest[0] == '0' || rest[0] == '1') && strlen(rest) > priority &&
           all_in(rest, priority, "0123456789ABCDEF") &&
           ends_in_sequence(rest + priority);
}

/* entry-<three digits>-<sequence> */
static bool is_of_kazoo(const char *name)
{
    return strncmp(name, "entry-", 6) == 0 && strlen(name) > 10 &&
           all_in(name + 6, 3, "0123456789") && name[9] == '-' &&
           ends_in_sequence(name + 10);
}

bool evzk__queue_name_is_foreign(const char *name)
{
    const size_t n = sizeof EVZK__QUEUE_ITEM - 1;

    if (strncmp(name, EVZK__QUEUE_ITEM, n) == 0)
        return is_of_curator(name + n);
    return is_of_kazoo(name) ||
           (strncmp(name, "qn-", 3) == 0 && ends_in_sequence(name + 3));
}

bool evzk__queue_has_foreign(const struct evzk__names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (evzk__queue_name_is_foreign(names->v[i]))
            return true;
    }
    return false;
}

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

bool evzk__queue_data_is_foreign(const void *data, size_t len)
{
    enum { VERSION = 0x00010001, HEAD = 4, ITEM = 1, END = 2, ITEM_HEAD = 5 };
    const unsigned char *at = data;
    size_t left = len;

    if (left < HEAD || number_at(at) != VERSION)
        return false;
    for (at += HEAD, left -= HEAD; left > ITEM_HEAD && at[0] == ITEM;) {
        size_t n = number_at(at + 1);

        if (n > left - ITEM_HEAD)
            return false;
        at += ITEM_HEAD + n;
        left -= ITEM_HEAD + n;
    }
    return left == 1 && at[0] == END;
}
