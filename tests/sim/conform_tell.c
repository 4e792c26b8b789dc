/* The transcript of a conformance run.  Ids that differ between a real server
 * and a simulated one are replaced by numbers in the order in which they
 * appear; the names of children, which have no order, are sorted. */
#include "conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 4096, CODES = 200 };

static char *lines[CONFORM_SLOTS][LINES];
static unsigned n_lines[CONFORM_SLOTS];
static bool codes[CODES];

void tell(int slot, const char *fmt, ...)
{
    va_list ap;
    char *line;

    va_start(ap, fmt);
    if (vasprintf(&line, fmt, ap) < 0 || n_lines[slot] == LINES) {
        fprintf(stderr, "conform: no room for a line\n");
        exit(3);
    }
    va_end(ap);
    lines[slot][n_lines[slot]++] = line;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void told_flush(int slot, bool sort)
{
    char **all = lines[slot];

    if (sort)
        qsort(all, n_lines[slot], sizeof *all, by_text);
    for (unsigned i = 0; i < n_lines[slot]; i++) {
        printf("s%d %s\n", slot, all[i]);
        free(all[i]);
    }
    n_lines[slot] = 0;
}

void tell_rc(int rc)
{
    if (rc <= 0 && rc > -CODES)
        codes[-rc] = true;
}

int tell_return_codes(void)
{
    int n = 0;

    for (int i = 0; i < CODES; i++)
        n += codes[i];
    return n;
}

/* ---- Numbers for ids ---- */

struct names {
    int64_t *id; /* A hash table, open; 0 is empty. */
    unsigned long *number, size, used;
};

static unsigned long place(const struct names *n, int64_t id)
{
    unsigned long at = (unsigned long)id * 0x9e3779b97f4a7c15ul >> 20;

    while (n->id[at % n->size] && n->id[at % n->size] != id)
        at++;
    return at % n->size;
}

static void grow(struct names *n)
{
    struct names old = *n;

    n->size = old.size ? old.size * 2 : 1024;
    n->id = calloc(n->size, sizeof *n->id);
    n->number = calloc(n->size, sizeof *n->number);
    if (!n->id || !n->number)
        abort();
    for (unsigned long i = 0; i < old.size; i++)
        if (old.id[i]) {
            unsigned long at = place(n, old.id[i]);

            n->id[at] = old.id[i];
            n->number[at] = old.number[i];
        }
    free(old.id);
    free(old.number);
}

static unsigned long number_of(struct names *n, int64_t id)
{
    unsigned long at;

    if (id == 0)
        return 0;
    if (n->used * 2 >= n->size)
        grow(n);
    at = place(n, id);
    if (!n->id[at]) {
        n->id[at] = id;
        n->number[at] = ++n->used;
    }
    return n->number[at];
}

unsigned long tell_zxid(int64_t zxid)
{
    static struct names zxids;

    return number_of(&zxids, zxid);
}

unsigned long tell_session(int64_t id)
{
    static struct names sessions;

    return number_of(&sessions, id);
}

/* ---- Values ---- */

/* The numbers are given one after the other: not as arguments of one call,
 * whose order is the compiler's. */
void tell_stat(char *buf, size_t size, const struct Stat *s)
{
    unsigned long cz, mz, pz, owner;

    if (!s) {
        snprintf(buf, size, "no stat");
        return;
    }
    cz = tell_zxid(s->czxid);
    mz = tell_zxid(s->mzxid);
    pz = tell_zxid(s->pzxid);
    owner = tell_session(s->ephemeralOwner);
    snprintf(buf, size,
             "cz=%lu mz=%lu pz=%lu order=%d%d v=%d cv=%d av=%d owner=%lu "
             "len=%d children=%d",
             cz, mz, pz, s->mzxid > s->czxid, s->pzxid > s->mzxid, s->version,
             s->cversion, s->aversion, owner, s->dataLength, s->numChildren);
}

void tell_data(char *buf, size_t size, const char *data, int len)
{
    if (!data || len < 0)
        snprintf(buf, size, "none(%d)", len);
    else
        snprintf(buf, size, "\"%.*s\"(%d)", len, data, len);
}

static void tell_sorted(char *buf, size_t size, char **all, int n)
{
    size_t used;

    qsort(all, (size_t)n, sizeof *all, by_text);
    used = (size_t)snprintf(buf, size, "[");
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, " %s", all[i]);
    if (used < size)
        snprintf(buf + used, size - used, " ]");
}

/* Sorted: those that stand for an "auth" have no order. */
void tell_acl(char *buf, size_t size, const struct ACL_vector *acl)
{
    char texts[16][100], *sorted[16];
    int n = acl ? acl->count : 0;

    if (n > 16)
        n = 16;
    for (int i = 0; i < n; i++) {
        sorted[i] = texts[i];
        snprintf(texts[i], sizeof texts[i], "%d:%s:%s", acl->data[i].perms,
                 acl->data[i].id.scheme, acl->data[i].id.id);
    }
    tell_sorted(buf, size, sorted, n);
}

void tell_names(char *buf, size_t size, const struct String_vector *names)
{
    int n = names ? names->count : 0;
    char *sorted[2048];

    if (n > 2048)
        n = 2048;
    for (int i = 0; i < n; i++)
        sorted[i] = names->data[i];
    tell_sorted(buf, size, sorted, n);
}
