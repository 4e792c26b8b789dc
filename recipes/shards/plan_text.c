/* The text of a plan, and of a member's znode.
 *
 * A plan is text, so that people can read it:
 *
 *     evzk-plan 1 <version> <shards> <members>
 *     <znode> <weight> <most> <bytes of data>     for each member, with
 *     <data>                                      its data
 *     3333*0 3334*1 3333*2                        shards in a row, and whose
 *
 * Where the shards have names, the first line ends with a fingerprint of them,
 * as sixteen digits to the base of 16.
 *
 * How it can fail: any client may write to the znode.  Its text is a plan only
 * if each word is as this file would have written it.
 */
#include "recipes/shards/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evzk/error.h"
#include "lib/base/mem.h"
#include "lib/base/name.h"

/* Shards in a row that have one owner. */
static uint32_t run_at(const struct evzk__plan *p, uint32_t from)
{
    uint32_t n = 1;

    while (from + n < p->n_shards && p->owner[from + n] == p->owner[from])
        n++;
    return n;
}

/* Enough for the text: the numbers have at most so many characters. */
static size_t size_of(const struct evzk__plan *p)
{
    enum { HEAD = 80, LINE = 48, RUN = 14 };
    size_t size = HEAD;

    for (uint32_t i = 0; i < p->n_members; i++)
        size += strlen(p->member[i].name) + p->member[i].len + LINE;
    for (uint32_t i = 0; i < p->n_shards; i += run_at(p, i))
        size += RUN;
    return size;
}

/* Ends a line.  Returns how much it printed. */
static int print_names(char *to, size_t size, uint64_t names)
{
    return names ? snprintf(to, size, " %016" PRIx64 "\n", names)
                 : snprintf(to, size, "\n");
}

/* Returns the end of what it printed. */
static char *print_member(char *to, const struct evzk__member *m)
{
    to += sprintf(to, "%s %" PRIu32 " %" PRIu32 " %zu\n", m->name, m->weight,
                  m->most, m->len);
    if (m->len > 0)
        memcpy(to, m->data, m->len);
    to[m->len] = '\n';
    return to + m->len + 1;
}

char *evzk__plan_print(const struct evzk__plan *p, size_t *len)
{
    size_t size = size_of(p);
    char *out = evzk__zalloc(size), *to = out;

    if (!out)
        return NULL;
    to += sprintf(to, "evzk-plan 1 %" PRIu64 " %" PRIu32 " %" PRIu32,
                  p->version, p->n_shards, p->n_members);
    to += print_names(to, size - (size_t)(to - out), p->names);
    for (uint32_t i = 0; i < p->n_members; i++)
        to = print_member(to, &p->member[i]);
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

/* Sixteen digits, as this file would have written them, and the line's end. */
static uint64_t fingerprint(struct text *t)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t n = 0;

    for (int i = 0; i < 16 && !t->bad; i++) {
        const char *digit =
            t->at < t->end && *t->at ? strchr(digits, *t->at) : NULL;

        t->bad = !digit;
        if (digit)
            n = n << 4 | (uint64_t)(digit - digits);
        t->at += !t->bad;
    }
    t->bad = t->bad || n == 0 || t->at == t->end || *t->at != '\n';
    t->at += !t->bad;
    return n;
}

/* The last number of a line, and the fingerprint behind it, if there is one. */
static uint64_t last_number(struct text *t, uint64_t most, uint64_t *names)
{
    struct text more = *t;
    uint64_t n = number(&more, most, ' ');

    *names = 0;
    if (more.bad)
        return number(t, most, '\n');
    *names = fingerprint(&more);
    *t = more;
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

/* 0, EVZK_ERR_NOMEM or EVZK_ERR_INVAL. */
static int read_plan(struct text *t, struct evzk__plan *p)
{
    p->version = number(t, EVZK__PLAN_VERSION_MAX, ' ');
    p->n_shards = (uint32_t)number(t, EVZK__PLAN_SHARDS, ' ');
    p->n_members = (uint32_t)last_number(t, EVZK__PLAN_MEMBERS, &p->names);
    if (t->bad)
        return EVZK_ERR_INVAL;
    if (evzk__plan_room(p) != EVZK_OK)
        return EVZK_ERR_NOMEM;
    for (uint32_t i = 0; !t->bad && i < p->n_members; i++)
        read_member(t, &p->member[i]);
    if (!t->bad)
        read_owners(t, p);
    return t->bad || p->version == 0 ? EVZK_ERR_INVAL : EVZK_OK;
}

int evzk__plan_parse(struct evzk__plan *p, const void *data, size_t len)
{
    static const char head[] = "evzk-plan 1 ";
    struct text t = {0};
    int rc;

    *p = (struct evzk__plan){0};
    if (len < strlen(head) || memcmp(data, head, strlen(head)) != 0)
        return EVZK_ERR_INVAL;
    p->text = evzk__memdup(data, len);
    if (!p->text)
        return EVZK_ERR_NOMEM;
    t.at = (char *)p->text + strlen(head);
    t.end = (char *)p->text + len;
    rc = read_plan(&t, p);
    if (rc != EVZK_OK)
        evzk__plan_free(p);
    return rc;
}

int evzk__member_print(char *out, size_t size, const struct evzk__member *m,
                       uint64_t ready)
{
    int n = snprintf(out, size, "%" PRIu32 " %" PRIu32 " %" PRIu64, m->weight,
                     m->most, ready);

    n += print_names(out + n, size - (size_t)n, m->names);
    if (m->len > 0)
        memcpy(out + n, m->data, m->len);
    return n + (int)m->len;
}

bool evzk__member_parse(struct evzk__member *m, uint64_t *ready,
                        const void *data, size_t len)
{
    /* Reading numbers does not write to the text. */
    char *from = (char *)(uintptr_t)data;
    struct text t = {.at = from, .end = from, .bad = len == 0};

    if (len > 0)
        t.end += len;
    m->weight = (uint32_t)number(&t, UINT32_MAX, ' ');
    m->most = (uint32_t)number(&t, UINT32_MAX, ' ');
    *ready = last_number(&t, INT64_MAX, &m->names);
    m->data = t.at;
    m->len = (size_t)(t.end - t.at);
    return !t.bad && m->len <= EVZK__PLAN_DATA;
}
