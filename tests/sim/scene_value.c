/* The beginning and the end of the scenes of values, and the explorer's calls.
 */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "recipes/parts/tidy.h"
#include "scene.h"
#include "scene_closing.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "scene_value.h"
#include "steps.h"

enum { EXTRA_WRITES = 1 };

struct value_world valued;
SIM_KEEP(valued)

/* The end of a process. */

static bool is_busy(int proc)
{
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i) && writer_plan(i)->proc == proc && !valued.writer[i].over)
            return true;
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i) && reader_plan(i)->proc == proc && !valued.reader[i].over)
            return true;
    }
    return false;
}

void value_maybe_close(int proc)
{
    if (!is_busy(proc))
        close_when_idle(proc);
}

bool value_done(void)
{
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i) && !valued.writer[i].over)
            return false;
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i) && !valued.reader[i].over)
            return false;
    }
    return processes_gone();
}

/* The beginning. */

static void make_value(void)
{
    if (valued.own->above_perms)
        ens_set_perms("/", (int)(EVZK_PERM_ALL & ~valued.own->above_perms));
    if (!valued.own->data)
        return;
    ens_create(valued.path, valued.own->data, strlen(valued.own->data), 0);
    if (valued.own->tidies)
        value_leave_receipts();
    if (valued.own->version)
        ens_set_version(valued.path, valued.own->version);
    if (valued.own->perms)
        ens_set_perms(valued.path, (int)(EVZK_PERM_ALL & ~valued.own->perms));
}

static void begin_servers(void)
{
    struct ens_config servers = scene_servers;

    if (valued.own->lags)
        servers.link_us = SCENE_LAG_US;
    ens_begin(&servers);
}

void value_begin(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    valued.own = sc->own;
    fault_hides = valued.own->hides;
    cfg.chroot = valued.own->chroot;
    strcpy(valued.path, valued.own->path ? valued.own->path : "/v");
    evzk__tidy_limits.again_us = 0;
    evzk__tidy_limits.list_us = 200 * 1000;
    evzk__tidy_limits.together = valued.own->tidies ? 2 : 0;
    begin_servers();
    scene_root(valued.own->chroot, valued.own->root_ms);
    make_value();
    value_look();
    scene_open(sc, &cfg);
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i))
            scene_timer_set(in_us(writer_plan(i)->start_ms),
                            writer_plan(i)->proc, value_start_writer, i);
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i))
            scene_timer_set(in_us(reader_plan(i)->start_ms),
                            reader_plan(i)->proc, value_start_reader, i);
    }
    value_acts_begin();
}

/* The explorer's calls. */

const char *const value_calls[] = {"write", "close",         "cancel",
                                   "free",  "close-session", NULL};
enum { WRITE, CLOSE, CANCEL, FREE, CLOSE_SESSION };

static int writer_of(int proc)
{
    for (int i = 0; i < WRITERS; i++) {
        if (valued.writer[i].w && writer_plan(i)->proc == proc)
            return i;
    }
    return -1;
}

static int reader_of(int proc)
{
    for (int i = 0; i < READERS; i++) {
        if ((valued.reader[i].q || valued.reader[i].f) &&
            reader_plan(i)->proc == proc)
            return i;
    }
    return -1;
}

static bool write_more(int i)
{
    struct writer *d = &valued.writer[i];

    if (d->extra == EXTRA_WRITES || d->n_ops == OPS)
        return false;
    d->extra++;
    return value_write_now(i, writer_plan(i)->writes[0]) == EVZK_OK;
}

static bool close_session(int proc)
{
    if (!close_early(proc))
        return false;
    for (int i = 0; i < WRITERS; i++) {
        if (writes(i) && writer_plan(i)->proc == proc && !valued.writer[i].w)
            value_writer_over(i);
    }
    for (int i = 0; i < READERS; i++) {
        if (reads(i) && reader_plan(i)->proc == proc && !valued.reader[i].q &&
            !valued.reader[i].f)
            value_reader_over(i);
    }
    return true;
}

static bool call_reader(int i, unsigned which)
{
    if (i < 0 || which < CANCEL)
        return false;
    if (which == CANCEL)
        return value_cancel_reader(i);
    value_free_reader(i);
    return true;
}

bool value_call(int proc, unsigned which)
{
    int i = writer_of(proc);

    if (which == CLOSE_SESSION)
        return close_session(proc);
    if (i < 0)
        return call_reader(reader_of(proc), which);
    switch (which) {
    case WRITE:
        return write_more(i);
    case CLOSE:
    case CANCEL:
        return value_end_as(i, which == CANCEL);
    default:
        value_free_writer(i);
        return true;
    }
}
