/* The order of contenders.  A machine that has a listing for itself goes
 * through it once; a listing that many machines share is put in order first. */
#include "lib/base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/foreign.h"
#include "lib/base/mem.h"

void evzk__priority_print(char out[EVZK__PRIORITY_MAX], uint8_t priority,
                          uint32_t ageing)
{
    snprintf(out, EVZK__PRIORITY_MAX, "-p%" PRIu8 "a%" PRIu32, priority,
             ageing);
}

/* A priority that evzk__priority_print() would write in another way is none. */
static void read_priority(struct evzk__contender *c, size_t mark_at)
{
    const char *p = memrchr(c->name, '-', mark_at);
    char again[EVZK__PRIORITY_MAX], *end;
    unsigned long priority, ageing;

    if (!p || p[1] != 'p')
        return;
    priority = strtoul(p + 2, &end, 10);
    if (*end != 'a' || priority > UINT8_MAX)
        return;
    ageing = strtoul(end + 1, &end, 10);
    if (ageing > UINT32_MAX || end != c->name + mark_at)
        return;
    evzk__priority_print(again, (uint8_t)priority, (uint32_t)ageing);
    if (strlen(again) != (size_t)(end - p) ||
        memcmp(again, p, strlen(again)) != 0)
        return;
    c->priority = (uint8_t)priority;
    if (c->flags & EVZK__WAITS)
        c->handicap =
            (int64_t)priority * (int64_t)(ageing ? ageing : UINT64_C(1) << 32);
}

/* The name ends in the mark and a number: is there a GUID before them, and
 * nothing else? */
static bool is_whole(const char *name, const char *mark)
{
    return evzk__guid_leads(name) &&
           strncmp(name + EVZK__GUID_LEN, mark, strlen(mark)) == 0 &&
           strlen(name) <= EVZK__GUID_LEN + strlen(mark) + 11;
}

/* The mark of a name, and its number; or NULL. */
static const struct evzk__mark *
mark_of(const char *name, const struct evzk__mark *marks, int32_t *seq)
{
    for (; marks->text; marks++) {
        if (evzk__seq_parse(name, marks->text, seq) &&
            (!(marks->flags & EVZK__WHOLE) || is_whole(name, marks->text)))
            return marks;
    }
    return NULL;
}

bool evzk__contender_parse(const char *name, const struct evzk__mark *marks,
                           struct evzk__contender *c)
{
    const struct evzk__mark *mark = mark_of(name, marks, &c->seq);
    const char *digits;

    if (!mark || mark->flags & EVZK__STRANGE)
        return false;
    c->name = name;
    c->flags = mark->flags;
    c->priority = 0;
    c->handicap = 0;
    digits = strrchr(name, mark->text[strlen(mark->text) - 1]);
    if (digits[-1] == '-') /* The sign of the number. */
        digits--;
    read_priority(c, (size_t)(digits + 1 - name) - strlen(mark->text));
    return true;
}

static int compare(const struct evzk__contender *a,
                   const struct evzk__contender *b)
{
    int64_t diff = (int32_t)((uint32_t)a->seq - (uint32_t)b->seq);

    if (diff == INT32_MIN && a->seq > b->seq)
        diff = -diff; /* As far apart as can be: any order, but one. */

    if (a->handicap != b->handicap) {
        diff += a->handicap - b->handicap;
        if (diff != 0)
            return diff < 0 ? -1 : 1;
        return strcmp(a->name, b->name);
    }
    if (evzk__seq_before(a->name, a->seq, b->name, b->seq))
        return -1;
    return evzk__seq_before(b->name, b->seq, a->name, a->seq);
}

bool evzk__contender_before(const struct evzk__contender *a,
                            const struct evzk__contender *b)
{
    return compare(a, b) < 0;
}

bool evzk__contender_bars(const struct evzk__contender *a,
                          const struct evzk__contender *b)
{
    return !(a->flags & b->flags & EVZK__SHARES);
}

struct evzk__entry {
    struct evzk__contender c;
    const struct evzk__entry *bar; /* The nearest that does not share, at or
                                      before this one and of its part (the
                                      queue, or those that wait by priority); or
                                      NULL. */
};

/* Contenders that wait by priority come behind the queue. */
static int compare_places(const void *pa, const void *pb)
{
    const struct evzk__entry *a = pa, *b = pb;
    int waits = (a->c.flags & EVZK__WAITS) - (b->c.flags & EVZK__WAITS);

    return waits != 0 ? waits : compare(&a->c, &b->c);
}

/* Names made by hand may be spread so far around the ring of numbers that no
 * order is right for all: then sorting means nothing, and may lose some. */
static bool within_half(const struct evzk__ordered *ordered, uint8_t waits)
{
    const struct evzk__contender *first = NULL;
    int64_t low = 0, high = 0;

    for (size_t i = 0; i < ordered->n; i++) {
        const struct evzk__contender *c = &ordered->v[i].c;
        int32_t off;

        if ((c->flags & EVZK__WAITS) != waits)
            continue;
        first = first ? first : c;
        off = (int32_t)((uint32_t)c->seq - (uint32_t)first->seq);
        low = off < low ? off : low;
        high = off > high ? off : high;
    }
    return high - low <= INT32_MAX;
}

static void find_bars(struct evzk__ordered *ordered)
{
    const struct evzk__entry *bar = NULL;

    for (size_t i = 0; i < ordered->n; i++) {
        if (i == ordered->queued)
            bar = NULL; /* The contenders that wait by priority begin here. */
        if (!(ordered->v[i].c.flags & EVZK__SHARES))
            bar = &ordered->v[i];
        ordered->v[i].bar = bar;
    }
}

/* Is this a contender that would not wait for ours? */
static bool is_stranger(const char *name, const struct evzk__mark *marks)
{
    struct evzk__foreign f;
    int32_t seq;

    return evzk__foreign_parse(name, &f) || mark_of(name, marks, &seq);
}

/* Notes a contender of another library.  `flags` are those of evzk's own mark,
 * if the name has one. */
static void note_stranger(struct evzk__strangers *s, const char *name,
                          const struct evzk__mark *marks, bool ours,
                          unsigned flags)
{
    if (!ours && !s->any && is_stranger(name, marks))
        s->any = name;
    else if (ours && (flags & EVZK__COMMON) && evzk__foreign_maker(name))
        s->common = name;
}

static const char *stranger_to(const struct evzk__contender *own,
                               const struct evzk__strangers *s)
{
    return s->any || own->flags & EVZK__COMMON ? s->any : s->common;
}

static bool put_in_order(struct evzk__ordered *ordered,
                         const struct evzk__names *names,
                         const struct evzk__mark *marks)
{
    if (ordered->marks != marks) { /* Put in order by another kind, or never. */
        evzk__ordered_free(ordered);
        *ordered = (struct evzk__ordered){.marks = marks};
    }
    if (ordered->v || ordered->failed)
        return !ordered->failed;
    ordered->v = evzk__zalloc(names->n * sizeof *ordered->v);
    ordered->failed = !ordered->v;
    if (ordered->failed)
        return false;
    for (size_t i = 0; i < names->n; i++) {
        struct evzk__contender *c = &ordered->v[ordered->n].c;
        bool ours = evzk__contender_parse(names->v[i], marks, c);

        note_stranger(&ordered->strangers, names->v[i], marks, ours, c->flags);
        if (!ours)
            continue;
        ordered->n++;
        ordered->queued += !(c->flags & EVZK__WAITS);
    }
    ordered->failed =
        !within_half(ordered, 0) || !within_half(ordered, EVZK__WAITS);
    if (ordered->n > 1 && !ordered->failed)
        qsort(ordered->v, ordered->n, sizeof *ordered->v, compare_places);
    find_bars(ordered);
    return !ordered->failed;
}

void evzk__ordered_free(struct evzk__ordered *ordered)
{
    evzk__free(ordered->v);
}

static const struct evzk__entry *place_of(const struct evzk__ordered *ordered,
                                          const struct evzk__contender *own)
{
    const struct evzk__entry key = {.c = *own};

    return ordered->n > 0 ? bsearch(&key, ordered->v, ordered->n,
                                    sizeof *ordered->v, compare_places)
                          : NULL;
}

/* The nearest contender that bars `own`, from `first` on, at or before `last`.
 */
static const struct evzk__entry *nearest(const struct evzk__entry *first,
                                         const struct evzk__entry *last,
                                         const struct evzk__contender *own)
{
    if (last < first)
        return NULL;
    return own->flags & EVZK__SHARES ? last->bar : last;
}

/* A contender that is EVZK__MOVES may have been replaced, and not gone. */
static void wait_for(struct evzk__order *s, const struct evzk__contender *pred)
{
    s->pred = pred->name;
    s->next = s->before == 1 && !(pred->flags & (EVZK__MOVES | EVZK__WAITS));
}

static void find_in_ordered(struct evzk__order *s,
                            const struct evzk__ordered *ordered,
                            const struct evzk__contender *own)
{
    const struct evzk__entry *p = place_of(ordered, own), *first = ordered->v,
                             *pred;
    bool waits = own->flags & EVZK__WAITS;

    s->foreign = stranger_to(own, &ordered->strangers);
    if (!p)
        return;
    if (waits)
        first += ordered->queued;
    s->found = true;
    s->before = (size_t)(p - first);
    pred = nearest(first, p - 1, own);
    if (!pred && waits)
        pred = nearest(ordered->v, first - 1, own);
    if (pred)
        wait_for(s, &pred->c);
    s->next = s->next && !waits;
}

/* A contender in the queue bars the first of those that wait by priority; which
 * one does not matter, so the last is taken. */
static void find_in_list(struct evzk__order *s, const struct evzk__names *names,
                         const struct evzk__mark *marks,
                         const struct evzk__contender *own)
{
    struct evzk__contender c = {0}, best = {0}, last = {0};
    struct evzk__strangers strangers = {0};

    for (size_t i = 0; i < names->n; i++) {
        bool ours = evzk__contender_parse(names->v[i], marks, &c), other;

        note_stranger(&strangers, names->v[i], marks, ours, c.flags);
        if (!ours)
            continue;
        other = (c.flags ^ own->flags) & EVZK__WAITS;
        if (strcmp(c.name, own->name) == 0)
            s->found = true;
        else if (other && !(own->flags & EVZK__WAITS))
            continue;
        else if (other || compare(&c, own) < 0) {
            struct evzk__contender *to = other ? &last : &best;

            s->before += !other;
            if (evzk__contender_bars(&c, own) &&
                (!to->name || compare(to, &c) < 0))
                *to = c;
        }
    }
    if (best.name || last.name)
        wait_for(s, best.name ? &best : &last);
    s->next = s->next && !(own->flags & EVZK__WAITS);
    s->foreign = stranger_to(own, &strangers);
}

void evzk__order(struct evzk__order *s, const struct evzk__names *names,
                 const struct evzk__mark *marks, const char *own)
{
    struct evzk__contender self;

    memset(s, 0, sizeof *s);
    if (!evzk__contender_parse(own, marks, &self))
        return;
    if (names->ordered && put_in_order(names->ordered, names, marks))
        find_in_ordered(s, names->ordered, &self);
    else
        find_in_list(s, names, marks, &self);
}

/* Must c, which was there before, wait for p from now on, and for no nearer
 * contender? */
static bool is_passed(const struct evzk__entry *p, const struct evzk__entry *c)
{
    bool nearest_is_p = c->c.flags & EVZK__SHARES ? c->bar == p : c == p + 1;

    return nearest_is_p &&
           evzk__seq_before(c->c.name, c->c.seq, p->c.name, p->c.seq);
}

size_t evzk__passed(const struct evzk__ordered *ordered,
                    const struct evzk__contender *own, char **out)
{
    const struct evzk__entry *p = place_of(ordered, own), *c;
    size_t n = 0;

    for (c = p ? p + 1 : NULL; c && c < ordered->v + ordered->n; c++) {
        if (is_passed(p, c)) {
            if (out)
                out[n] = (char *)(uintptr_t)c->c.name;
            n++;
        }
        if (!(c->c.flags & EVZK__SHARES) || (own->flags & EVZK__SHARES))
            break; /* Contenders behind c do not wait for p. */
    }
    return n;
}

bool evzk__blocked_by_less(const struct evzk__ordered *ordered,
                           const struct evzk__contender *own)
{
    for (size_t i = 0; i < ordered->queued; i++) {
        const struct evzk__contender *c = &ordered->v[i].c;

        if (c->priority > own->priority && evzk__contender_bars(c, own) &&
            (own->flags & EVZK__WAITS || compare(c, own) < 0))
            return true;
    }
    return false;
}
