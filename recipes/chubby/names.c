/* The znodes beside a file, and sequencers as texts.
 *
 *   <path>                       the file
 *   <path>.evzk/                 a container: the directory of its lock
 *   <path>.evzk/<guid>-file      the anchor: as long as this instance exists
 *   <path>.evzk/<guid>-write-<seq>, <guid>-read-<seq>
 *                                the lock's queue (recipes/lock)
 *   <path>.evzk/<holder's znode>-<ms>-delay
 *                                persistent: a holder that wants a lock-delay;
 *                                without its holder's znode it is the trace of
 *                                an unclean end
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/lock/lock_internal.h"

#define DELAY "-delay"
#define RECEIPT "-receipt"

/* With something before the end. */
static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && strcmp(name + n - k, end) == 0;
}

bool evzk__chubby_reserved(const char *name)
{
    return strcmp(name, EVZK__CHUBBY_SIDE) == 0 ||
           ends_in(name, EVZK__CHUBBY_SIDE) ||
           (ends_in(name, RECEIPT) &&
            strlen(name) == EVZK__GUID_LEN + strlen(RECEIPT));
}

bool evzk__chubby_is_anchor(const char *name)
{
    return ends_in(name, EVZK__CHUBBY_ANCHOR) &&
           strlen(name) == EVZK__GUID_LEN + strlen(EVZK__CHUBBY_ANCHOR);
}

/* ---- Marks. ---- */

void evzk__chubby_mark(char out[EVZK__CHUBBY_MARK_MAX], const char *node,
                       uint32_t delay_ms)
{
    snprintf(out, EVZK__CHUBBY_MARK_MAX, "%s-%" PRIu32 DELAY, node, delay_ms);
}

/* In the queue: a contender that waits by priority holds nothing yet. */
static bool is_contender(const char *node, bool *shared)
{
    struct evzk__contender c;

    if (!evzk__contender_parse(node, evzk__lock_marks, &c) ||
        c.flags & EVZK__WAITS)
        return false;
    *shared = c.flags & EVZK__SHARES;
    return true;
}

bool evzk__chubby_mark_parse(const char *name, struct evzk__delay *d)
{
    char text[EVZK__CHUBBY_MARK_MAX], *dash, *end;
    size_t n = strlen(name);
    unsigned long ms;

    if (!ends_in(name, DELAY) || n >= sizeof text)
        return false;
    memcpy(text, name, n - strlen(DELAY));
    text[n - strlen(DELAY)] = '\0';
    dash = strrchr(text, '-');
    if (!dash || dash[1] < '0' || dash[1] > '9')
        return false;
    ms = strtoul(dash + 1, &end, 10);
    *dash = '\0';
    if (*end || strlen(text) >= sizeof d->node)
        return false;
    d->ms =
        ms < EVZK_CHUBBY_DELAY_MAX_MS ? (uint32_t)ms : EVZK_CHUBBY_DELAY_MAX_MS;
    strcpy(d->node, text);
    return is_contender(text, &d->shared);
}

/* ---- Sequencers. ---- */

enum { CZXID_DIGITS = 16 };

bool evzk__sequencer_print(char *to, size_t size, const char *dir,
                           const char *node, uint64_t czxid, bool shared)
{
    int n = snprintf(to, size, "%s/%s:%016" PRIx64 ":%c", dir, node, czxid,
                     shared ? 'r' : 'w');

    return n > 0 && (size_t)n < size;
}

static bool parse_czxid(const char *text, int64_t *czxid)
{
    char *end;

    if (strspn(text, "0123456789abcdef") != CZXID_DIGITS)
        return false;
    *czxid = (int64_t)strtoull(text, &end, 16);
    return end == text + CZXID_DIGITS && *end == ':' && *czxid > 0;
}

static bool parse_end(struct evzk__sequencer *q, char *text)
{
    size_t n = strlen(text);
    char *rest = n > CZXID_DIGITS + 3 ? text + n - CZXID_DIGITS - 3 : NULL;

    if (!rest || rest[0] != ':' || !parse_czxid(rest + 1, &q->czxid) ||
        (text[n - 1] != 'w' && text[n - 1] != 'r'))
        return false;
    q->shared = text[n - 1] == 'r';
    *rest = '\0';
    return true;
}

/* The rest of the text is the path of a contender's znode. */
static bool parse_path(struct evzk__sequencer *q, char *text)
{
    char *slash = strrchr(text, '/');
    bool shared;

    if (!evzk__path_ok(text) || !slash || slash == text)
        return false;
    *slash = '\0';
    q->node = slash + 1;
    return ends_in(strrchr(text, '/') + 1, EVZK__CHUBBY_SIDE) &&
           is_contender(q->node, &shared) && shared == q->shared;
}

int evzk__sequencer_parse(struct evzk__sequencer *q, const char *text)
{
    char *copy = evzk__strdup(text);

    *q = (struct evzk__sequencer){0};
    if (!copy)
        return EVZK_ERR_NOMEM;
    if (parse_end(q, copy) && parse_path(q, copy)) {
        q->dir = copy;
        return EVZK_OK;
    }
    evzk__free(copy);
    return EVZK_ERR_INVAL;
}

int evzk__sequencer_copy(struct evzk__sequencer *to,
                         const struct evzk__sequencer *q)
{
    size_t n = (size_t)(q->node - q->dir) + strlen(q->node);

    *to = *q;
    to->dir = evzk__memdup(q->dir, n);
    to->node = to->dir ? to->dir + (q->node - q->dir) : NULL;
    return to->dir ? EVZK_OK : EVZK_ERR_NOMEM;
}

void evzk__sequencer_clear(struct evzk__sequencer *q)
{
    evzk__free(q->dir);
    *q = (struct evzk__sequencer){0};
}

bool evzk__sequencer_is_first(const struct evzk__names *names, const char *node)
{
    struct evzk__order order;

    evzk__order(&order, names, evzk__lock_marks, node);
    return order.found && !order.pred;
}
