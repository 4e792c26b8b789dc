/* Faults of what a znode says: whoever is about to read it reads bytes that no
 * recipe has written there, for a while.
 *
 * They are made of what stands there: all of it changed at once, or one field
 * of it, so that a reader takes all before that field for good.
 *
 * How it can fail: a field behind the first FIELDS is never changed; and what
 * is read within a transaction is not struck. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "wire.h"
#include "world.h"

enum {
    PATH = 160,
    FIELDS = 12,
    SPOILT = 4,
    STRIKES = 16,
    LONG = 20000,       /* More than any room that a reader may have. */
    MORE = 64,          /* What a change adds at most, but LONG. */
    COMMITTED = 10 * MS /* At each server, and no client has given up yet. */
};

enum whole {
    NOTHING,
    EMPTY,
    ZERO,
    HALF,
    CUT,
    TRAILS,
    PIERCED,
    ENDLESS,
    WHOLES
};
enum part {
    GONE,
    SLASH,
    SLASHES,
    DOTS,
    CONTROL,
    LEADING,
    HUGE,
    CHARACTER,
    PARTS
};

/* Znodes that are malformed, and what they said before. */
static struct {
    char path[PATH]; /* "": none. */
    char *said;
    int64_t len, mzxid; /* Since it is malformed. */
} spoilt[SPOILT];
SIM_KEEP(spoilt)

/* Where and when a fault has written, and what. */
static struct {
    int64_t n, mzxid[2 * STRIKES];
    uint64_t path[2 * STRIKES], data[2 * STRIKES];
} wrote;
SIM_KEEP(wrote)

bool fault_malformed(void) { return wrote.n != 0; }

bool fault_wrote(int64_t mzxid)
{
    for (int64_t i = 0; i < wrote.n; i++) {
        if (wrote.mzxid[i] == mzxid)
            return true;
    }
    return false;
}

bool fault_said(const char *path, const void *data, size_t len)
{
    for (int64_t i = 0; i < wrote.n; i++) {
        if (wrote.path[i] == sim_hash(path, strlen(path)) &&
            wrote.data[i] == sim_hash(data, len))
            return true;
    }
    return false;
}

/* Returns the transaction. */
static int64_t write_to(const char *path, const char *data, int64_t len)
{
    struct ens_seen seen;

    ens_set_data(path,
                 len < 0    ? NULL
                 : len == 0 ? ""
                            : data,
                 len < 0 ? 0 : (size_t)len);
    ens_look_ahead(path, &seen);
    wrote.path[wrote.n] = sim_hash(path, strlen(path));
    wrote.data[wrote.n] = sim_hash(data, len < 0 ? 0 : (size_t)len);
    wrote.mzxid[wrote.n++] = seen.mzxid;
    return seen.mzxid;
}

/* The znode that the process is about to read. */
static const char *about_to_read(const struct sim_step *step,
                                 struct ens_seen *seen)
{
    const struct wire_msg *m =
        step->proc < 0 ? NULL : wire_first_up(step->proc);

    return m && m->op == ZOO_GETDATA_OP && m->path &&
                   ens_look_ahead(m->path, seen)
               ? m->path
               : NULL;
}

/* A field ends before one of these. */
static bool ends_field(char c) { return c == '\0' || strchr(" \n:*", c); }

/* The nth field, and where it ends; NULL: there are fewer. */
static const char *field(const struct ens_seen *seen, unsigned nth,
                         const char **end)
{
    const char *at = seen->data, *all = at ? at + seen->len : NULL;

    for (; at < all; at = *end + 1) {
        for (*end = at; *end < all && !ends_field(**end);)
            ++*end;
        if (*end > at && nth-- == 0)
            return at;
    }
    return NULL;
}

int fault_contents(const struct sim_step *step)
{
    struct ens_seen seen;
    const char *end;
    unsigned n = 0;

    if (!about_to_read(step, &seen))
        return 0;
    while (n < FIELDS && field(&seen, n, &end))
        n++;
    return WHOLES + (int)n * PARTS;
}

static size_t put(char *to, size_t at, const void *bytes, size_t n)
{
    memcpy(to + at, bytes, n);
    return at + n;
}

/* Returns how long the new text is; below zero: a znode without data. */
static int64_t change_whole(char *to, const struct ens_seen *seen,
                            enum whole how)
{
    size_t len = seen->len > 0 ? (size_t)seen->len : 0;

    if (len > 0)
        memcpy(to, seen->data, len);
    switch (how) {
    case NOTHING:
        return -1;
    case EMPTY:
        return 0;
    case ZERO:
        to[0] = '\0';
        return 1;
    case HALF:
        return (int64_t)(len / 2);
    case CUT:
        return (int64_t)(len > 0 ? len - 1 : 0);
    case TRAILS:
        return (int64_t)put(to, len, " \0/..\n7", 7);
    case PIERCED:
        to[len / 2] = '\0';
        return (int64_t)len;
    case ENDLESS:
        for (size_t i = len; i < LONG; i++)
            to[i] = len > 0 ? to[i - len] : '9';
        return LONG;
    case WHOLES:
        break;
    }
    return 0;
}

/* The field is `n` bytes at `at`.  Where a byte is another one, the field is as
 * long as before: some readers go by that. */
static size_t change_field(char *to, size_t at, const char *was, size_t n,
                           enum part how)
{
    static const char *const instead[PARTS] = {
        [GONE] = "", [DOTS] = "..", [HUGE] = "99999999999999999999"};
    static const char *const within[PARTS] = {[SLASH] = "/",
                                              [SLASHES] = "//",
                                              [CONTROL] = "\x01",
                                              [LEADING] = "0",
                                              [CHARACTER] = "\xc3"};
    size_t from = n / 2, len;

    if (instead[how])
        return put(to, at, instead[how], strlen(instead[how]));
    len = strlen(within[how]);
    if (how == LEADING)
        from = 0;
    else if (how == CHARACTER || from + len > n) /* Half of one, at the end. */
        from = n - 1;
    at = put(to, at, was, from);
    at = put(to, at, within[how], len);
    if (how != LEADING)
        from += len < n - from ? len : n - from;
    return put(to, at, was + from, n - from);
}

static int64_t change(char *to, const struct ens_seen *seen, unsigned kind)
{
    unsigned part = kind - WHOLES;
    const char *from, *end;
    size_t at;

    if (kind < WHOLES)
        return change_whole(to, seen, (enum whole)kind);
    from = field(seen, part / PARTS, &end);
    if (!from)
        return seen->len;
    at = put(to, 0, seen->data, (size_t)(from - seen->data));
    at = change_field(to, at, from, (size_t)(end - from),
                      (enum part)(part % PARTS));
    return (int64_t)put(to, at, end, (size_t)(seen->data + seen->len - end));
}

/* The znode says again what it said, if nobody has written to it since. */
static void mend(intptr_t i)
{
    struct ens_seen seen;

    if (ens_look_ahead(spoilt[i].path, &seen) && seen.mzxid == spoilt[i].mzxid)
        write_to(spoilt[i].path, spoilt[i].said, spoilt[i].len);
    sim_free(SIM_OUTSIDE, spoilt[i].said);
    memset(&spoilt[i], 0, sizeof spoilt[i]);
}

/* Keeps the content that comes back; of a znode that is malformed already, the
 * one before that. */
static void keep_said(int i, const char *path, const struct ens_seen *seen)
{
    const char *said = seen->data;

    spoilt[i].len = seen->len;
    for (int k = 0; k < SPOILT; k++) {
        if (k != i && spoilt[k].mzxid == seen->mzxid &&
            strcmp(spoilt[k].path, path) == 0) {
            said = spoilt[k].said;
            spoilt[i].len = spoilt[k].len;
        }
    }
    if (spoilt[i].len > 0)
        spoilt[i].said = sim_memdup(SIM_OUTSIDE, said, (size_t)spoilt[i].len);
}

static void spoil(int i, const char *path, const struct ens_seen *seen,
                  const char *to, int64_t len)
{
    snprintf(spoilt[i].path, PATH, "%s", path);
    keep_said(i, path, seen);
    spoilt[i].mzxid = write_to(path, to, len);
    scene_timer_set(FAULT_PAST, -1, mend, i);
    faults_last(FAULT_PAST);
}

static bool is_same(const struct ens_seen *seen, const char *to, int64_t len)
{
    return len == seen->len &&
           (len <= 0 || memcmp(to, seen->data, (size_t)len) == 0);
}

/* The read waits until the servers have the new content. */
bool fault_malform(const struct fault *f, const struct sim_step *step)
{
    struct ens_seen seen;
    const char *path = about_to_read(step, &seen);
    int64_t len;
    char *to;
    int i = 0;

    while (i < SPOILT && spoilt[i].path[0])
        i++;
    if (!path || i == SPOILT || wrote.n > 2 * (STRIKES - 1) ||
        strlen(path) >= PATH)
        return false;
    to = sim_alloc(SIM_OUTSIDE, (size_t)(seen.len + 1) + LONG + MORE);
    len = change(to, &seen, f->which);
    if (!is_same(&seen, to, len)) {
        spoil(i, path, &seen, to, len);
        wire_hold(wire_conn_of(step->proc), WIRE_UPWARD, sim_now() + COMMITTED);
    }
    sim_free(SIM_OUTSIDE, to);
    return spoilt[i].path[0] != '\0';
}
