/* Which member is to lead which shard.
 *
 * A plan is text, so that people can read it:
 *
 *     evzk-plan 1 <version> <shards> <members>
 *     <znode> <weight> <most> <bytes of data>     for each member, with
 *     <data>                                      its data
 *     3333*0 3334*1 3333*2                        shards in a row, and whose
 *
 * The next plan gives each member its share: its part by weight, rounded down.
 * The shards that are left over go one by one to members that have more than
 * that already, then to the others.  Each member keeps its shards, up to its
 * share.  Shards above a member's share, and shards without a member, go in
 * turn to members with less than their share.  So no shard moves that could
 * stay.
 *
 * How it can fail: any client may write to the znode.  Its text is a plan only
 * if each word is as this file would have written it; and a plan is believed
 * only if it gives each member the share that this file would have given.
 */
#include "recipes/shards/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evzk/error.h"
#include "lib/base/mem.h"
#include "lib/base/name.h"

/* Of a plan; the next one is 1. */
#define VERSION_MAX (UINT64_MAX / 16)

void evzk__plan_free(struct evzk__plan *p)
{
    evzk__free(p->member);
    evzk__free(p->owner);
    evzk__free(p->text);
    *p = (struct evzk__plan){0};
}

static int room_for(struct evzk__plan *p)
{
    p->member = evzk__zalloc(p->n_members * sizeof *p->member);
    p->owner = evzk__zalloc(p->n_shards * sizeof *p->owner);
    return p->member && p->owner ? EVZK_OK : EVZK_ERR_NOMEM;
}

uint16_t evzk__plan_find(const struct evzk__plan *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_members; i++) {
        if (strcmp(p->member[i].name, name) == 0)
            return (uint16_t)i;
    }
    return EVZK__NOBODY;
}

bool evzk__plan_is_for(const struct evzk__plan *p, const struct evzk__member *v,
                       uint32_t n, uint32_t n_shards)
{
    if (p->version == 0 || p->n_members != n || p->n_shards != n_shards)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (evzk__plan_find(p, v[i].name) == EVZK__NOBODY)
            return false;
    }
    return true;
}

uint32_t evzk__plan_moves(const struct evzk__plan *p,
                          const struct evzk__plan *prev)
{
    uint32_t moves = 0;

    for (uint32_t i = 0; i < p->n_shards && i < prev->n_shards; i++) {
        uint16_t was = prev->owner[i], is = p->owner[i];

        if (was != EVZK__NOBODY)
            moves += is == EVZK__NOBODY ||
                     strcmp(prev->member[was].name, p->member[is].name) != 0;
    }
    return moves;
}

/* ---- Shares ---- */

struct share {
    uint32_t want, have, kept;
    bool full; /* `want` is final. */
};

static uint32_t limit_of(const struct evzk__member *m)
{
    return m->weight == 0 ? 0 : m->most ? m->most : UINT32_MAX;
}

/* Shares by weight, rounded down.  A member that reaches its limit is full, and
 * the others share what it leaves.  Returns how many shards are left over. */
static uint32_t share_out(const struct evzk__plan *p, struct share *s)
{
    for (;;) {
        uint64_t weight = 0;
        uint32_t left = p->n_shards, given = 0;
        bool again = false;

        for (uint32_t i = 0; i < p->n_members; i++) {
            if (s[i].full)
                left -= s[i].want;
            else
                weight += p->member[i].weight;
        }
        for (uint32_t i = 0; i < p->n_members; i++) {
            uint32_t limit = limit_of(&p->member[i]);

            if (s[i].full)
                continue;
            s[i].want =
                weight
                    ? (uint32_t)(p->member[i].weight * (uint64_t)left / weight)
                    : 0;
            given += s[i].want;
            if (s[i].want >= limit) {
                s[i].want = limit;
                s[i].full = again = true;
            }
        }
        if (!again)
            return left - given;
    }
}

/* The shards left over, fewer than there are members: one each, first to
 * members that have more than their share already. */
static void share_rest(const struct evzk__plan *p, struct share *s,
                       uint32_t left)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < p->n_members && left > 0; i++) {
            if (s[i].full || (round == 0 && s[i].have <= s[i].want))
                continue;
            s[i].want++;
            s[i].full = true; /* One for each. */
            left--;
        }
    }
}

/* Of the members that are still there: which had each shard before. */
static void keep_owners(struct evzk__plan *p, const struct evzk__plan *prev,
                        struct share *s)
{
    uint16_t now[EVZK__PLAN_MEMBERS];

    for (uint32_t i = 0; i < prev->n_members; i++)
        now[i] = evzk__plan_find(p, prev->member[i].name);
    for (uint32_t i = 0; i < p->n_shards; i++) {
        uint16_t was = i < prev->n_shards ? prev->owner[i] : EVZK__NOBODY;

        p->owner[i] = EVZK__NOBODY;
        if (was != EVZK__NOBODY)
            p->owner[i] = now[was];
        if (p->owner[i] != EVZK__NOBODY)
            s[p->owner[i]].have++;
    }
}

static uint32_t next_with_room(const struct evzk__plan *p,
                               const struct share *s, uint32_t from)
{
    for (uint32_t n = 0; n < p->n_members; n++) {
        uint32_t i = (from + n) % p->n_members;

        if (s[i].kept < s[i].want)
            return i;
    }
    return EVZK__NOBODY;
}

static void deal(struct evzk__plan *p, struct share *s)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < p->n_shards; i++) {
        uint16_t own = p->owner[i];

        if (own != EVZK__NOBODY && s[own].kept < s[own].want)
            s[own].kept++;
        else
            p->owner[i] = EVZK__NOBODY;
    }
    for (uint32_t i = 0; i < p->n_shards; i++) {
        if (p->owner[i] != EVZK__NOBODY)
            continue;
        at = next_with_room(p, s, at);
        if (at == EVZK__NOBODY)
            return; /* All members are full. */
        p->owner[i] = (uint16_t)at;
        s[at++].kept++;
    }
}

static int copy_members(struct evzk__plan *p, const struct evzk__member *v)
{
    size_t n = 1;
    char *to;

    for (uint32_t i = 0; i < p->n_members; i++)
        n += strlen(v[i].name) + 1 + v[i].len;
    p->text = to = evzk__zalloc(n);
    if (!to)
        return EVZK_ERR_NOMEM;
    for (uint32_t i = 0; i < p->n_members; i++) {
        p->member[i] = v[i];
        p->member[i].name = to;
        to = stpcpy(to, v[i].name) + 1;
        p->member[i].data = to;
        if (v[i].len > 0)
            memcpy(to, v[i].data, v[i].len);
        to += v[i].len;
    }
    return EVZK_OK;
}

int evzk__plan_next(struct evzk__plan *p, const struct evzk__plan *prev,
                    const struct evzk__member *v, uint32_t n, uint32_t n_shards)
{
    struct share *s = evzk__zalloc((n + 1) * sizeof *s);
    int rc;

    *p = (struct evzk__plan){.version = prev->version % VERSION_MAX + 1,
                             .n_shards = n_shards,
                             .n_members = n};
    rc = s ? room_for(p) : EVZK_ERR_NOMEM;
    if (rc == EVZK_OK)
        rc = copy_members(p, v);
    if (rc == EVZK_OK) {
        keep_owners(p, prev, s);
        share_rest(p, s, share_out(p, s));
        deal(p, s);
    } else
        evzk__plan_free(p);
    evzk__free(s);
    return rc;
}

/* ---- Is a plan to be believed? ---- */

/* A member that is named twice finds only the shards of the first entry. */
static bool has_twice(const struct evzk__plan *p)
{
    for (uint32_t i = 1; i < p->n_members; i++) {
        if (evzk__plan_find(p, p->member[i].name) != i)
            return true;
    }
    return false;
}

/* The shares follow from the weights, and from which members have one more
 * already: for a plan that this file made, they come out as they are. */
bool evzk__plan_is_even(const struct evzk__plan *p)
{
    struct share s[EVZK__PLAN_MEMBERS] = {{0}};

    if (p->version == 0 || p->n_members == 0 ||
        p->n_members > EVZK__PLAN_MEMBERS || has_twice(p))
        return false;
    for (uint32_t i = 0; i < p->n_shards; i++) {
        if (p->owner[i] != EVZK__NOBODY)
            s[p->owner[i]].have++;
    }
    share_rest(p, s, share_out(p, s));
    for (uint32_t i = 0; i < p->n_members; i++) {
        if (s[i].have != s[i].want)
            return false;
    }
    return true;
}

static bool same_member(const struct evzk__member *a,
                        const struct evzk__member *b)
{
    return strcmp(a->name, b->name) == 0 && a->weight == b->weight &&
           a->most == b->most && a->len == b->len &&
           (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

bool evzk__plan_is_right(const struct evzk__plan *p,
                         const struct evzk__member *v, uint32_t n,
                         uint32_t n_shards)
{
    if (!evzk__plan_is_for(p, v, n, n_shards))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!same_member(&p->member[evzk__plan_find(p, v[i].name)], &v[i]))
            return false;
    }
    return evzk__plan_is_even(p);
}

bool evzk__plan_same(const struct evzk__plan *a, const struct evzk__plan *b)
{
    bool same = a->version == b->version && a->n_shards == b->n_shards &&
                a->n_members == b->n_members;

    for (uint32_t i = 0; same && i < a->n_members; i++)
        same = same_member(&a->member[i], &b->member[i]);
    return same &&
           (a->n_shards == 0 ||
            memcmp(a->owner, b->owner, a->n_shards * sizeof *a->owner) == 0);
}

uint64_t evzk__plan_number(uint64_t seen, uint64_t known)
{
    seen = seen < VERSION_MAX ? seen : 0;
    known = known < VERSION_MAX ? known : 0;
    return (seen > known ? seen : known) + 1;
}

/* ---- As text ---- */

/* Shards in a row that have one owner. */
static uint32_t run_at(const struct evzk__plan *p, uint32_t from)
{
    uint32_t n = 1;

    while (from + n < p->n_shards && p->owner[from + n] == p->owner[from])
        n++;
    return n;
}

char *evzk__plan_print(const struct evzk__plan *p, size_t *len)
{
    enum { HEAD = 80, LINE = 48, RUN = 14 };
    size_t size = HEAD;
    char *out, *to;

    for (uint32_t i = 0; i < p->n_members; i++)
        size += strlen(p->member[i].name) + p->member[i].len + LINE;
    for (uint32_t i = 0; i < p->n_shards; i += run_at(p, i))
        size += RUN;
    to = out = evzk__zalloc(size);
    if (!out)
        return NULL;
    to += sprintf(to, "evzk-plan 1 %" PRIu64 " %" PRIu32 " %" PRIu32 "\n",
                  p->version, p->n_shards, p->n_members);
    for (uint32_t i = 0; i < p->n_members; i++) {
        const struct evzk__member *m = &p->member[i];

        to += sprintf(to, "%s %" PRIu32 " %" PRIu32 " %zu\n", m->name,
                      m->weight, m->most, m->len);
        if (m->len > 0)
            memcpy(to, m->data, m->len);
        to[m->len] = '\n';
        to += m->len + 1;
    }
    for (uint32_t i = 0; i < p->n_shards; i += run_at(p, i))
        to +=
            sprintf(to, "%" PRIu32 "*%" PRIu16 "\n", run_at(p, i), p->owner[i]);
    *len = (size_t)(to - out);
    return out;
}

/* The text that is still to be read. */
struct text {
    char *at, *end;
    bool bad;
};

/* A number, as this file would have written it, and the character behind it. */
static uint64_t number(struct text *t, uint64_t most, char behind)
{
    uint64_t n = 0;
    char *from = t->at;

    while (!t->bad && t->at < t->end && *t->at >= '0' && *t->at <= '9') {
        n = n * 10 + (uint64_t)(*t->at++ - '0');
        t->bad = n > most || t->at - from > 19;
    }
    t->bad = t->bad || t->at == from || t->at == t->end || *t->at != behind ||
             (*from == '0' && t->at - from > 1);
    if (!t->bad)
        t->at++;
    return n;
}

static char *piece(struct text *t, size_t len, char behind)
{
    char *from = t->at;

    t->bad = t->bad || (size_t)(t->end - t->at) <= len || from[len] != behind;
    if (!t->bad)
        t->at += len + 1;
    return from;
}

/* A bad name could lead out of the members' directory, or of our memory. */
static char *name(struct text *t)
{
    char *space = t->bad ? NULL : memchr(t->at, ' ', (size_t)(t->end - t->at));
    size_t len = space ? (size_t)(space - t->at) : 0;
    char *from = piece(t, len, ' ');

    t->bad = t->bad || !evzk__name_ok(from, len);
    if (!t->bad)
        *space = '\0';
    return from;
}

static void read_member(struct text *t, struct evzk__member *m)
{
    m->name = name(t);
    m->weight = (uint32_t)number(t, UINT32_MAX, ' ');
    m->most = (uint32_t)number(t, UINT32_MAX, ' ');
    m->len = (size_t)number(t, EVZK__PLAN_DATA, '\n');
    m->data = piece(t, t->bad ? 0 : m->len, '\n');
}

static void read_owners(struct text *t, struct evzk__plan *p)
{
    uint32_t i = 0;

    while (!t->bad && i < p->n_shards) {
        uint32_t n = (uint32_t)number(t, p->n_shards - i, '*');
        uint16_t own = (uint16_t)number(t, EVZK__NOBODY, '\n');

        t->bad =
            t->bad || n == 0 || (own >= p->n_members && own != EVZK__NOBODY);
        while (!t->bad && n-- > 0)
            p->owner[i++] = own;
    }
    t->bad = t->bad || t->at != t->end;
}

int evzk__plan_parse(struct evzk__plan *p, const void *data, size_t len)
{
    static const char head[] = "evzk-plan 1 ";
    struct text t = {.bad = len < strlen(head) ||
                            memcmp(data, head, strlen(head)) != 0};
    int rc = EVZK_OK;

    *p = (struct evzk__plan){0};
    if (t.bad)
        return EVZK_ERR_INVAL;
    p->text = evzk__memdup(data, len);
    if (!p->text)
        return EVZK_ERR_NOMEM;
    t.at = (char *)p->text + strlen(head);
    t.end = (char *)p->text + len;
    p->version = number(&t, VERSION_MAX, ' ');
    p->n_shards = (uint32_t)number(&t, EVZK__PLAN_SHARDS, ' ');
    p->n_members = (uint32_t)number(&t, EVZK__PLAN_MEMBERS, '\n');
    if (!t.bad)
        rc = room_for(p);
    for (uint32_t i = 0; !t.bad && rc == EVZK_OK && i < p->n_members; i++)
        read_member(&t, &p->member[i]);
    if (!t.bad && rc == EVZK_OK)
        read_owners(&t, p);
    if (rc == EVZK_OK && (t.bad || p->version == 0))
        rc = EVZK_ERR_INVAL;
    if (rc != EVZK_OK)
        evzk__plan_free(p);
    return rc;
}

int evzk__member_print(char *out, size_t size, const struct evzk__member *m,
                       uint64_t ready)
{
    int n = snprintf(out, size, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
                     m->weight, m->most, ready);

    if (m->len > 0)
        memcpy(out + n, m->data, m->len);
    return n + (int)m->len;
}

bool evzk__member_parse(struct evzk__member *m, uint64_t *ready,
                        const void *data, size_t len)
{
    /* number() does not write to the text. */
    char *from = (char *)(uintptr_t)data;
    struct text t = {.at = from, .end = from + len, .bad = len == 0};

    m->weight = (uint32_t)number(&t, UINT32_MAX, ' ');
    m->most = (uint32_t)number(&t, UINT32_MAX, ' ');
    *ready = number(&t, INT64_MAX, '\n');
    m->data = t.at;
    m->len = (size_t)(t.end - t.at);
    return !t.bad && m->len <= EVZK__PLAN_DATA;
}
