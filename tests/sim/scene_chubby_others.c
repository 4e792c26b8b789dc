/* What others do in the scenes of Chubby's interface: operators, and programs
 * with other libraries. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_chubby.h"
#include "steps.h"
#include "wire.h"

static void expire(intptr_t unused)
{
    (void)unused;
    process_expire(0);
}

static void cut(intptr_t unused)
{
    (void)unused;
    if (wire_conn_of(0) >= 0)
        wire_cut(wire_conn_of(0));
}

static void freeze(intptr_t unused)
{
    int64_t us = chubbies.own->frozen_ms * INT64_C(1000);

    (void)unused;
    process_freeze(0, sim_now() + us);
    processes_disturbed(us);
}

static void write_it(intptr_t unused)
{
    (void)unused;
    ens_set_data(chubby_file(0), "o", 1);
}

static void child_path(char to[64])
{
    snprintf(to, 64, "%s/c", chubby_file(0));
}

static void make_child(intptr_t unused)
{
    char path[64];

    (void)unused;
    child_path(path);
    ens_create(path, "c", 1, 0);
}

static void drop_child(intptr_t unused)
{
    char path[64];

    (void)unused;
    child_path(path);
    ens_delete(path);
}

static void hide(intptr_t unused)
{
    (void)unused;
    if (ens_set_perms(chubby_file(0), ~EVZK_PERM_READ & EVZK_PERM_ALL) != 0)
        return;
    chubbies.hidden_at = sim_now();
    chubbies.hidden = chubby_now(0) ? chubby_now(0)->czxid : 0;
    for (int p = 0; p < SIM_PROCS; p++) {
        if (wire_conn_of(p) >= 0)
            chubbies.heard_by[p] = wire_born(wire_conn_of(p));
    }
}

static void veil(intptr_t unused)
{
    char path[64];

    (void)unused;
    child_path(path);
    if (ens_set_perms(path, ~EVZK_PERM_READ & EVZK_PERM_ALL) == 0)
        chubbies.veiled_at = sim_now();
}

static void delete_it(intptr_t unused)
{
    (void)unused;
    operator_delete(chubby_file(0));
}

static void remake(intptr_t unused)
{
    (void)unused;
    ens_create(chubby_file(0), "o", 1, 0);
}

static void steal(intptr_t unused)
{
    const char *names[8];
    char path[160];
    size_t n = ens_children(chubby_side(0), names, 8);

    (void)unused;
    for (size_t i = 0; i < n && i < 8; i++) {
        snprintf(path, sizeof path, "%s/%s", chubby_side(0), names[i]);
        if (strstr(names[i], "-write-") && !strstr(names[i], "-delay")) {
            operator_delete(path);
            return;
        }
    }
}

static void make_above(bool side)
{
    if (chubbies.own->chroot)
        ens_create("/r", "", 0, 0);
    ens_create(chubbies.own->chroot ? "/r/f" : "/f", "", 0, 0);
    if (side)
        ens_create(chubby_side(0), "", 0, 0);
}

/* Marks without their holders, as processes that were killed leave them. */
static void make_marks(void)
{
    char path[160];

    make_above(true);
    for (int k = 0; k < chubbies.own->marks; k++) {
        snprintf(path, sizeof path,
                 "%s/%08d-0000-4000-8000-000000000000-read-%010d-%d-delay",
                 chubby_side(0), k, k, k > 0 ? 10 : MARK_MS);
        ens_create(path, "", 0, 0);
        if (k == 0 && chubbies.own->mark_child)
            ens_create(strcat(path, "/c"), "", 0, 0);
    }
}

/* Other programs' znodes in the lock's directory: an anchor that nobody may
 * read, one of another file, and names that are nearly a mark's, a contender's,
 * or an anchor's. */
static void make_litter(void)
{
    static const char *const names[] = {
        "11111111-0000-4000-8000-000000000000-file",
        "22222222-0000-4000-8000-000000000000-file",
        "33333333-0000-4000-8000-000000000000-write-0000000000-x-delay",
        "33333333-0000-4000-8000-000000000000-write-0000000000-delay",
        "33333333-0000-4000-8000-000000000000-write-",
        "-file",
        "-delay",
        "notes"};
    char path[160];

    make_above(true);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", chubby_side(0), names[k]);
        ens_create(path, "", 0, 0);
        if (k == 0)
            ens_set_perms(path, ~EVZK_PERM_READ & EVZK_PERM_ALL);
    }
}

void chubby_others_begin(void)
{
    if (chubbies.own->foreign) {
        make_above(false);
        ens_create(chubby_file(0), "o", 1, 0);
    }
    if (chubbies.own->marks)
        make_marks();
    if (chubbies.own->litter)
        make_litter();
    if (chubbies.own->denied)
        ens_set_perms("/", EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
    if (chubbies.own->child)
        make_child(0);
}

static void after(int ms, void (*fn)(intptr_t arg))
{
    if (ms)
        scene_timer_set(ms * INT64_C(1000), -1, fn, 0);
}

void chubby_others_plan(void)
{
    const struct chubby_scene *own = chubbies.own;

    after(own->expire_ms, expire);
    if (own->cut_us)
        scene_timer_set(own->cut_us, -1, cut, 0);
    after(own->freeze_ms, freeze);
    after(own->write_ms, write_it);
    after(own->child_ms, make_child);
    after(own->drop_ms, drop_child);
    after(own->delete_ms, delete_it);
    after(own->remake_ms, remake);
    after(own->hide_ms, hide);
    after(own->veil_ms, veil);
    after(own->steal_ms, steal);
}
