/* Faults of the tree: what an operator, or another program, does to it.
 *
 * Nothing here knows a recipe: a process's own znode is its session's newest
 * ephemeral one, and the one before it has the next lower number at its end.
 *
 * How it can fail: a scene whose processes have no ephemeral znodes gets none
 * of these. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "processes.h"
#include "wire.h"
#include "world.h"

enum {
    PATH = FAULT_PATH,
    KIDS = 48,
    DEPTH = 6,
    FOREIGN = 4,
    FOREIGN_TRIES = 10
};
enum { NUMBER = 11, GUID = 36 };

/* Foreign contenders that are to go again: by the beginning of their names,
 * since the server may choose the rest. */
struct foreign {
    char dir[PATH], tag[12];
    unsigned tries; /* To remove it. */
};
static struct {
    struct foreign v[FOREIGN];
    unsigned n;
} foreign;
SIM_KEEP(foreign)

/* Copies beside the znodes that they were made of. */
static struct {
    char path[FOREIGN][2 * PATH];
    unsigned n;
} beside;
SIM_KEEP(beside)

/* Znodes that could not be deleted. */
static struct {
    char path[FOREIGN][2 * PATH];
    int64_t czxid[FOREIGN];
    unsigned n;
} undeleted;
SIM_KEEP(undeleted)

struct found {
    int64_t owner; /* Its session; 0: any. */
    bool plain;    /* Without a GUID in its name: another may have that, too. */
    int64_t czxid;
    char path[PATH];
};

static bool has_guid(const char *path)
{
    const char *name = strrchr(path, '/') + 1, *end;
    enum { DIGITS = 32 };

    for (; *name; name = *end ? end + 1 : end) {
        int digits = 0;

        for (end = name; *end == '-' || isxdigit((unsigned char)*end); end++)
            digits += *end != '-';
        if (digits >= DIGITS)
            return true;
    }
    return false;
}

static void see(struct found *f, const char *path)
{
    struct ens_seen seen;

    if (!ens_look(path, &seen) || !seen.owner || seen.czxid < f->czxid)
        return;
    if ((f->owner && seen.owner != f->owner) || (f->plain && has_guid(path)))
        return;
    f->czxid = seen.czxid;
    snprintf(f->path, sizeof f->path, "%s", path);
}

/* The newest ephemeral znode in the whole tree. */
static void walk(struct found *f, const char *path, int depth)
{
    const char *names[KIDS];
    char below[PATH];
    size_t n;

    see(f, path);
    if (depth == 0)
        return;
    n = ens_children(path, names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        int len = snprintf(below, sizeof below, "%s/%s", path[1] ? path : "",
                           names[i]);

        if (len < PATH && strcmp(below, "/zookeeper") != 0)
            walk(f, below, depth - 1);
    }
}

static bool find(int64_t owner, char path[PATH])
{
    struct found f = {.owner = owner, .czxid = -1};

    walk(&f, "/", DEPTH);
    memcpy(path, f.path, PATH);
    return f.czxid >= 0;
}

static bool own(const struct fault *f, char path[PATH])
{
    int64_t session = faults_session(f->which);

    return session && find(session, path);
}

static bool directory(char path[PATH])
{
    if (!find(0, path))
        return false;
    *strrchr(path, '/') = '\0';
    return path[0] != '\0';
}

static bool did(int rc)
{
    if (rc == 0)
        faults_last(0);
    return rc == 0;
}

const char *fault_number(const char *name, int32_t *n)
{
    const char *p = name + strlen(name);

    while (p > name && p[-1] >= '0' && p[-1] <= '9')
        p--;
    if (strlen(p) < 9)
        return NULL;
    if (p - name >= 2 && p[-1] == '-' && p[-2] == '-')
        p--;
    *n = (int32_t)strtol(p, NULL, 10);
    return p;
}

bool fault_comes_before(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b) < 0;
}

/* The lowest of a directory, or the highest that is before `limit`. */
static const char *lowest(const char *dir, const int32_t *limit)
{
    const char *names[KIDS], *best = NULL;
    size_t n = ens_children(dir, names, KIDS);
    int32_t best_n = 0, x;

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (!fault_number(names[i], &x) ||
            (limit && !fault_comes_before(x, *limit)))
            continue;
        if (!best || (limit ? fault_comes_before(best_n, x)
                            : fault_comes_before(x, best_n))) {
            best = names[i];
            best_n = x;
        }
    }
    return best;
}

bool fault_delete_own(const struct fault *f, const struct sim_step *step)
{
    char path[PATH];

    (void)step;
    return own(f, path) && did(operator_delete(path));
}

/* The znode with the next lower number. */
static bool before_own(const char *path, char pred[2 * PATH])
{
    const char *slash = strrchr(path, '/'), *name;
    char dir[PATH];
    int32_t n;

    if (!fault_number(slash + 1, &n))
        return false;
    snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
    name = lowest(dir, &n);
    if (name)
        snprintf(pred, 2 * PATH, "%s/%s", dir, name);
    return name != NULL;
}

bool fault_delete_pred(const struct fault *f, const struct sim_step *step)
{
    char path[PATH], pred[2 * PATH];

    (void)step;
    return own(f, path) && before_own(path, pred) && did(operator_delete(pred));
}

/* As a shell's deleteall does it: one transaction, whose events come apart. */
static bool delete_together(int proc, const char *const paths[], size_t n)
{
    int64_t until = sim_now() + FAULT_SHORT;

    if (operator_delete_together(paths, n) != 0)
        return false;
    for (int p = 0; p < SIM_PROCS; p++) {
        if (proc < 0 || p == proc)
            wire_part_events(p, until);
    }
    faults_last(FAULT_SHORT);
    return true;
}

bool fault_delete_pair(const struct fault *f, const struct sim_step *step)
{
    char path[PATH], pred[2 * PATH];
    const char *const both[] = {pred, path};

    (void)step;
    return own(f, path) && before_own(path, pred) &&
           delete_together(f->which, both, 2);
}

bool fault_delete_batch(const struct fault *f, const struct sim_step *step)
{
    static char path[KIDS][2 * PATH]; /* Nothing is kept in it. */
    const char *names[KIDS], *paths[KIDS];
    char dir[PATH];
    size_t n;

    (void)f;
    (void)step;
    if (!directory(dir))
        return false;
    n = ens_children(dir, names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", dir, names[i]);
        paths[i] = path[i];
    }
    return n > 1 && n <= KIDS && delete_together(-1, paths, n);
}

static void remove_copies(intptr_t unused)
{
    (void)unused;
    operator_remove_copies();
}

bool fault_replace_own(const struct fault *f, const struct sim_step *step)
{
    char path[PATH];

    (void)step;
    if (!own(f, path) || !operator_copy(f->which, path))
        return false;
    scene_timer_set(FAULT_SHORT, -1, remove_copies, 0);
    faults_last(FAULT_SHORT);
    return true;
}

bool fault_seize_own(const struct fault *f, const struct sim_step *step)
{
    struct found of = {
        .owner = faults_session(f->which), .czxid = -1, .plain = true};

    (void)step;
    if (!of.owner)
        return false;
    walk(&of, "/", DEPTH);
    if (of.czxid < 0 || !operator_seize(f->which, of.path))
        return false;
    scene_timer_set(FAULT_SHORT, -1, remove_copies, 0);
    faults_last(FAULT_SHORT);
    return true;
}

/* All in its directory, and that, go; and that comes again with its copy. */
static bool remake(int proc, const char *own_path)
{
    static char path[KIDS][2 * PATH]; /* Nothing is kept in it. */
    const char *names[KIDS], *paths[KIDS + 1];
    char dir[PATH];
    size_t n;

    snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(own_path, '/') - own_path),
             own_path);
    n = ens_children(dir, names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", dir, names[i]);
        paths[i] = path[i];
    }
    paths[n < KIDS ? n : KIDS] = dir;
    return n < KIDS && operator_remake(proc, paths, n + 1, own_path);
}

bool fault_remake_away(const struct fault *f, const struct sim_step *step)
{
    int conn = wire_conn_of(f->which);
    char path[PATH];

    (void)step;
    if (conn < 0 || !own(f, path) || !remake(f->which, path))
        return false;
    scene_timer_set(FAULT_SHORT, -1, remove_copies, 0);
    faults_last(FAULT_SHORT);
    wire_cut(conn);
    return true;
}

bool fault_replace_away(const struct fault *f, const struct sim_step *step)
{
    int conn = wire_conn_of(f->which);

    if (conn < 0 || !fault_replace_own(f, step))
        return false;
    wire_cut(conn);
    return true;
}

static void remove_beside(intptr_t which)
{
    const char *names[KIDS], *path = beside.path[which];
    char child[3 * PATH];
    size_t n = ens_children(path, names, KIDS);

    for (size_t i = 0; i < n && i < KIDS; i++) {
        snprintf(child, sizeof child, "%s/%s", path, names[i]);
        ens_delete(child);
    }
    ens_delete(path); /* Or it has gone. */
}

/* Of the same GUID and data, by nobody's session. */
static bool put_beside(const char *path, int by)
{
    char *to = beside.path[beside.n], data[64];
    struct ens_seen seen;
    const char *digits;
    int32_t n;

    if (beside.n == FOREIGN || !ens_look(path, &seen) || seen.len < 0 ||
        seen.len > (int32_t)sizeof data ||
        !(digits = fault_number(strrchr(path, '/') + 1, &n)) ||
        (n == 0 && by < 0))
        return false;
    memcpy(data, seen.data, (size_t)seen.len);
    snprintf(to, sizeof beside.path[0], "%.*s%010" PRId32, (int)(digits - path),
             path, (int32_t)((uint32_t)n + (uint32_t)by));
    if (ens_create(to, data, (size_t)seen.len, ZOO_PERSISTENT) != 0)
        return false;
    fault_note_copy(to);
    scene_timer_set(FAULT_SHORT, -1, remove_beside, (intptr_t)beside.n++);
    faults_last(FAULT_SHORT);
    return true;
}

bool fault_copy_beside(const struct fault *f, const struct sim_step *step)
{
    int conn = wire_conn_of(f->which);
    char path[PATH];

    (void)step;
    if (conn < 0 || !own(f, path) || !put_beside(path, -1))
        return false;
    wire_cut(conn);
    return true;
}

static void delete_undeleted(intptr_t which)
{
    const char *path = undeleted.path[which];
    struct ens_seen seen;

    if (ens_look(path, &seen) && seen.czxid == undeleted.czxid[which])
        operator_delete(path);
}

/* Else nobody could go on, as long as the session lives. */
static void note_undeleted(const struct wire_msg *m)
{
    struct ens_seen seen;
    unsigned i = undeleted.n;

    for (const struct wire_msg *o = m->ops; o; o = o->next)
        note_undeleted(o);
    if (strcmp(wire_op_name(m->op), "delete") != 0 || i == FOREIGN ||
        !ens_look(m->path, &seen))
        return;
    snprintf(undeleted.path[i], sizeof undeleted.path[i], "%s", m->path);
    undeleted.czxid[i] = seen.czxid;
    undeleted.n++;
    scene_timer_set(FAULT_SHORT, -1, delete_undeleted, (intptr_t)i);
    faults_last(FAULT_SHORT);
}

bool fault_deny(const struct fault *f, const struct sim_step *step)
{
    const struct wire_msg *m = wire_first_up(step->proc);

    (void)f;
    if (!m || !ens_deniable(m))
        return false;
    ens_deny(step->proc);
    note_undeleted(m);
    faults_last(0);
    return true;
}

bool fault_fill(const struct fault *f, const struct sim_step *step)
{
    const struct wire_msg *m = wire_first_up(step->proc);

    (void)f;
    if (!m || !ens_deniable(m) || !fault_may_fill())
        return false;
    ens_fill(sim_now() + FAULT_SHORT);
    faults_last(FAULT_SHORT);
    return true;
}

bool fault_set_own(const struct fault *f, const struct sim_step *step)
{
    char path[PATH];

    (void)step;
    return own(f, path) && did(ens_set_data(path, "changed", 7));
}

/* The directory alone, while there is nothing in it: the deepest one. */
static void deepest(const char *path, char out[PATH], int depth)
{
    const char *names[KIDS];
    char below[PATH];
    size_t n = ens_children(path, names, KIDS);

    for (size_t i = 0; i < n && i < KIDS; i++) {
        int len = snprintf(below, sizeof below, "%s/%s", path[1] ? path : "",
                           names[i]);

        if (len >= PATH || strcmp(below, "/zookeeper") == 0)
            continue;
        if (strlen(names[i]) < GUID)
            snprintf(out, PATH, "%s", below);
        if (depth > 0)
            deepest(below, out, depth - 1);
    }
}

bool fault_empty_dir(const struct fault *f, const struct sim_step *step)
{
    char path[PATH] = "";

    (void)f;
    (void)step;
    deepest("/", path, DEPTH);
    return path[0] && did(operator_delete(path));
}

bool fault_delete_all(const struct fault *f, const struct sim_step *step)
{
    char dir[PATH], path[2 * PATH];
    const char *names[KIDS];
    size_t n;

    (void)f;
    (void)step;
    if (!directory(dir))
        return false;
    n = ens_children(dir, names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        operator_delete(path);
    }
    operator_delete(dir);
    return did(0);
}

bool fault_foreign(const struct fault *f, const struct sim_step *step)
{
    char dir[PATH], path[2 * PATH];

    (void)f;
    (void)step;
    if (!directory(dir))
        return false;
    snprintf(path, sizeof path, "%s/no-contender", dir);
    return did(ens_create(path, "", 0, ZOO_PERSISTENT));
}

static void remove_foreign(intptr_t which)
{
    const struct foreign *g = &foreign.v[which];
    const char *names[KIDS];
    char path[2 * PATH];
    size_t n = ens_children(g->dir, names, KIDS);

    for (size_t i = 0; i < n && i < KIDS; i++) {
        if (strncmp(names[i], g->tag, strlen(g->tag)) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", g->dir, names[i]);
        ens_delete(path); /* Its own znode. */
        return;
    }
    if (++foreign.v[which].tries < FOREIGN_TRIES) /* Not committed yet. */
        scene_timer_set(FAULT_SHORT, -1, remove_foreign, which);
}

/* Makes a znode for a while. */
static bool put(const char *path, int mode)
{
    if (ens_create(path, "", 0, mode) != 0)
        return false;
    scene_timer_set(FAULT_SHORT, -1, remove_foreign, (intptr_t)foreign.n);
    foreign.n++;
    faults_last(FAULT_SHORT);
    return true;
}

bool fault_put(const char *dir, const char *tag, const char *rest, int mode)
{
    struct foreign *g = &foreign.v[foreign.n];
    char path[2 * PATH];

    if (foreign.n == FOREIGN)
        return false;
    snprintf(g->dir, sizeof g->dir, "%s", dir);
    snprintf(g->tag, sizeof g->tag, "%s", tag);
    snprintf(path, sizeof path, "%s/%s%s", dir, tag, rest);
    return put(path, mode);
}

bool fault_directory(char dir[FAULT_PATH]) { return directory(dir); }

const char *fault_lowest(const char *dir, const char **digits, int32_t *n)
{
    const char *name = lowest(dir, NULL);

    *digits = name ? fault_number(name, n) : NULL;
    return *digits ? name : NULL;
}

/* A persistent contender, named like the lowest there, by nobody's session. */
static bool contend(bool higher)
{
    struct foreign *g = &foreign.v[foreign.n];
    char path[2 * PATH];
    const char *like, *end;
    int32_t n = 0;
    int mode = higher ? ZOO_PERSISTENT_SEQUENTIAL : ZOO_PERSISTENT, len;

    if (foreign.n == FOREIGN || !directory(g->dir))
        return false;
    like = lowest(g->dir, NULL);
    if (!like || !(end = fault_number(like, &n)) || end - like < 8)
        return false;
    snprintf(g->tag, sizeof g->tag, "fa17%03x", foreign.n);
    len = snprintf(path, sizeof path, "%s/%s%.*s", g->dir, g->tag,
                   (int)(end - like - 7), like + 7);
    if (!higher)
        snprintf(path + len, NUMBER + 1, "%010" PRId32,
                 (int32_t)((uint32_t)n - 1));
    return put(path, mode);
}

bool fault_foreign_lower(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    return contend(false);
}

bool fault_foreign_higher(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    return contend(true);
}

/* A contender that is named as another library does. */
static bool contend_as(const char *before, const char *after)
{
    char dir[PATH], tag[12];

    if (!directory(dir))
        return false;
    snprintf(tag, sizeof tag, "%sfa17%03x", before, foreign.n);
    return fault_put(dir, tag, after, ZOO_PERSISTENT_SEQUENTIAL);
}

bool fault_foreign_curator(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    return contend_as("_c_", "0-e89b-42d3-a456-426614174000-__WRIT__");
}

bool fault_foreign_kazoo(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    return contend_as("", "0e89b42d3a456426614174000__lock__");
}

bool fault_foreign_mutex(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    return contend_as("_c_", "0-e89b-42d3-a456-426614174000-lock-");
}
