/* Faults of what a process watches: a znode that it may not read for a while,
 * and that changes meanwhile; and a history of the servers that begins anew.
 *
 * The servers remove the watch on such a znode when it changes, and send no
 * event (ens_watch.c).  So whoever goes by that watch alone is deaf for ever.
 *
 * How it can fail: where the process has no watch, nothing is struck. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "processes.h"
#include "wire.h"
#include "world.h"

enum { PATH = 160, KIDS = 16, ALL = 31, PLAIN_READ = 1, HIDDEN = 4 };

static struct {
    char path[HIDDEN][PATH]; /* "": none. */
    int64_t children[HIDDEN], what[HIDDEN];
    int64_t hid, anew;
} hidden;
SIM_KEEP(hidden)

unsigned fault_hides;

bool fault_hid_watched(void) { return hidden.hid != 0; }

bool fault_began_anew(void) { return hidden.anew != 0; }

enum what { CHANGE, DELETE, REPLACE };

static void show(intptr_t i)
{
    ens_set_perms(hidden.path[i], ALL); /* Or it has gone. */
    hidden.path[i][0] = '\0';
}

static void remove_copies(intptr_t unused)
{
    (void)unused;
    operator_remove_copies();
}

static void delete_all(const char *path)
{
    const char *names[KIDS];
    char child[2 * PATH];
    size_t n = ens_children(path, names, KIDS);

    for (size_t k = 0; k < n && k < KIDS; k++) {
        snprintf(child, sizeof child, "%s/%s", path, names[k]);
        delete_all(child);
    }
    operator_delete(path);
}

/* Its data; or, if its children are watched, the first of them goes. */
static void change(const char *path, bool children)
{
    const char *names[KIDS];
    char child[2 * PATH];

    if (!children) {
        ens_set_data(path, "!", 1);
        return;
    }
    if (ens_children(path, names, KIDS) == 0)
        return;
    snprintf(child, sizeof child, "%s/%s", path, names[0]);
    delete_all(child);
}

/* Another znode of the same name, that may not be read either. */
static void replace(int proc, const char *path)
{
    struct ens_seen seen;

    if (!ens_look(path, &seen))
        return;
    if (seen.owner) {
        if (operator_copy(proc, path))
            scene_timer_set(3 * (int64_t)FAULT_PAST, -1, remove_copies, 0);
    } else {
        delete_all(path);
        ens_create(path, "!", 1, 0);
    }
    ens_set_perms(path, ALL & ~PLAIN_READ);
}

/* The number of a process, behind that of the hidden znode. */
static void strike(intptr_t arg)
{
    int i = (int)arg % HIDDEN, proc = (int)arg / HIDDEN;

    switch ((enum what)hidden.what[i]) {
    case CHANGE:
        change(hidden.path[i], hidden.children[i]);
        break;
    case DELETE:
        delete_all(hidden.path[i]);
        break;
    case REPLACE:
        replace(proc, hidden.path[i]);
        break;
    }
}

static bool hide(const struct fault *f, int proc, enum what what)
{
    int conn = wire_conn_of(proc), i = 0;
    bool children;
    const char *path = ens_watched(conn, f->which, &children);

    while (i < HIDDEN && hidden.path[i][0])
        i++;
    if (!(fault_hides & 1U << proc) || !path || i == HIDDEN ||
        strlen(path) >= PATH || !path[1] || ens_perms(path) != ALL ||
        ens_set_perms(path, ALL & ~PLAIN_READ) != 0)
        return false;
    snprintf(hidden.path[i], PATH, "%s", path);
    hidden.children[i] = children;
    hidden.what[i] = what;
    hidden.hid++;
    scene_timer_set(FAULT_SHORT, -1, strike, proc * HIDDEN + i);
    scene_timer_set(FAULT_PAST, -1, show, i);
    faults_last(what == REPLACE ? 3 * (int64_t)FAULT_PAST : FAULT_PAST);
    return true;
}

bool fault_hide_change(const struct fault *f, const struct sim_step *step)
{
    return hide(f, step->proc, CHANGE);
}

bool fault_hide_delete(const struct fault *f, const struct sim_step *step)
{
    return hide(f, step->proc, DELETE);
}

bool fault_hide_replace(const struct fault *f, const struct sim_step *step)
{
    return hide(f, step->proc, REPLACE);
}

/* History begins anew, once; and each connection is lost. */
static bool begin_anew(void)
{
    if (!fault_hides || hidden.anew)
        return false;
    hidden.anew++;
    ens_begin_anew();
    for (int p = 0; p < SIM_PROCS; p++) {
        if (wire_conn_of(p) >= 0)
            wire_cut(wire_conn_of(p));
    }
    faults_last(FAULT_SHORT);
    return true;
}

bool fault_history_back(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    return begin_anew();
}

bool fault_history_anew(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    if (!fault_hides || hidden.anew)
        return false;
    for (int p = 0; p < SIM_PROCS; p++) {
        if (faults_session(p))
            process_expire(p);
    }
    return begin_anew();
}
