/* Faults of the shards' plan and members: what is well-formed, and none of them
 * has written; what they may not read for a while; a member's znode in whose
 * place stands a copy that no session owns.  And what the voters of a ballot
 * may not list for a while.
 *
 * A forged plan is made from the one that is there, so that it names the
 * members who are there; what the rules know of it is its very text.
 *
 * How it can fail: where there is no plan, or no member, nothing is struck.  So
 * it is in the scenes of all other recipes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "processes.h"
#include "world.h"

#define ROOT "/s"
#define PLAN ROOT "/plan"
#define MEMBERS ROOT "/members"
#define GHOST "00000000-0000-4000-8000-000000000000-n_0000000099"

enum { PATH = 160, TEXT = 1024, TEXTS = 4, KIDS = 8, PLAIN_READ = 1, ALL = 31 };

enum forgery {
    NOBODYS,
    GHOSTS,
    FIRSTS,
    ONLOOKERS,
    OTHER_COUNT,
    GREATEST,
    LIES
};

/* The forged plans, the last one in `text` as well, and the hidden znodes. */
static struct {
    char text[TEXT], texts[TEXTS][TEXT];
    int64_t n;
    int64_t copies, hid, hid_members;
    int64_t hid_votes;
    char hidden[SIM_PROCS + 3][PATH];
} forged;
SIM_KEEP(forged)

struct seen_plan {
    uint64_t version;
    int shards, members;
    char names[20]; /* " " and a fingerprint; or "": the shards are numbered. */
    char name[KIDS][PATH], data[KIDS][8];
    int weight[KIDS], most[KIDS];
};

bool fault_forged(const void *data, size_t len)
{
    for (int i = 0; i < TEXTS; i++) {
        if (len > 0 && strlen(forged.texts[i]) == len &&
            memcmp(forged.texts[i], data, len) == 0)
            return true;
    }
    return false;
}

bool fault_hid(void) { return forged.hid != 0; }

bool fault_hid_members(void) { return forged.hid_members != 0; }

bool fault_hid_votes(void) { return forged.hid_votes != 0; }

bool fault_copied(void) { return forged.copies != 0; }

void fault_note_copy(const char *path)
{
    forged.copies += strncmp(path, MEMBERS "/", sizeof MEMBERS) == 0;
}

static const char *read_one(struct seen_plan *p, int i, const char *at)
{
    size_t len;
    int n = 0;

    if (sscanf(at, "%159s %d %d %zu%n", p->name[i], &p->weight[i], &p->most[i],
               &len, &n) != 4 ||
        len >= sizeof p->data[i] || strlen(at + n) < len + 2)
        return NULL;
    memcpy(p->data[i], at + n + 1, len);
    return at + n + 1 + len + 1;
}

static bool read_plan(struct seen_plan *p)
{
    char text[TEXT] = "";
    struct ens_seen seen;
    const char *at;
    int n = 0;

    memset(p, 0, sizeof *p);
    if (!ens_look(PLAN, &seen) || seen.len <= 0 || seen.len >= TEXT)
        return false;
    memcpy(text, seen.data, (size_t)seen.len);
    if (sscanf(text, "evzk-plan 1 %" SCNu64 " %d %d%n", &p->version, &p->shards,
               &p->members, &n) != 3 ||
        p->members > KIDS)
        return false;
    at = text + n;
    n = (int)strcspn(at, "\n");
    snprintf(p->names, sizeof p->names, "%.*s", n, at);
    at += n + 1;
    for (int i = 0; at && i < p->members; i++)
        at = read_one(p, i, at);
    return at != NULL;
}

static size_t add_member(size_t at, const char *name, int weight, int most,
                         const char *data)
{
    return at + (size_t)snprintf(forged.text + at, TEXT - at,
                                 "%s %d %d %zu\n%s\n", name, weight, most,
                                 strlen(data), data);
}

/* The members that are there, or one that is not. */
static size_t add_members(size_t at, const struct seen_plan *p,
                          enum forgery what)
{
    if (what == GHOSTS || what == GREATEST)
        return add_member(at, GHOST, 1, 0, "no");
    for (int i = 0; i < p->members; i++)
        at = add_member(at, p->name[i], what == ONLOOKERS ? 0 : p->weight[i],
                        p->most[i], what == LIES ? "lie" : p->data[i]);
    return at;
}

static uint64_t number(const struct seen_plan *p, enum forgery what)
{
    if (what == GREATEST)
        return UINT64_MAX / 16;
    return what == FIRSTS ? p->version : p->version + 1;
}

static void compose(const struct seen_plan *p, enum forgery what)
{
    bool nobodys = what == NOBODYS || what == ONLOOKERS;
    bool ghost = what == GHOSTS || what == GREATEST;
    int shards = p->shards + (what == OTHER_COUNT);
    size_t at;

    memset(&forged.text, 0, sizeof forged.text);
    at = (size_t)snprintf(forged.text, TEXT,
                          "evzk-plan 1 %" PRIu64 " %d %d%s\n", number(p, what),
                          shards, ghost ? 1 : p->members, p->names);
    at = add_members(at, p, what);
    snprintf(forged.text + at, TEXT - at, "%d*%d\n", shards,
             nobodys ? 65535 : 0);
}

bool fault_forge_plan(const struct fault *f, const struct sim_step *step)
{
    struct seen_plan p;

    (void)step;
    if (!read_plan(&p))
        return false;
    compose(&p, (enum forgery)f->which);
    if (ens_set_data(PLAN, forged.text, strlen(forged.text)) != 0)
        return false;
    memcpy(forged.texts[forged.n++ % TEXTS], forged.text, TEXT);
    faults_last(0);
    return true;
}

/* ---- What may not be read ---- */

static void show(intptr_t i)
{
    ens_set_perms(forged.hidden[i], ALL); /* Or it has gone. */
    forged.hidden[i][0] = '\0';
}

static bool seal(const char *path, int i, int perms)
{
    if (forged.hidden[i][0] || ens_set_perms(path, perms) != 0)
        return false;
    snprintf(forged.hidden[i], PATH, "%s", path);
    forged.hid++;
    scene_timer_set(FAULT_PAST, -1, show, i);
    faults_last(FAULT_PAST);
    return true;
}

static bool hide(const char *path, int i)
{
    return seal(path, i, ALL & ~PLAIN_READ);
}

/* The znode by which a process is a member. */
static bool member_of(int proc, char path[PATH], struct ens_seen *seen)
{
    const char *names[KIDS];
    size_t n = ens_children(MEMBERS, names, KIDS);
    int64_t session = faults_session(proc);

    for (size_t i = 0; session && i < n && i < KIDS; i++) {
        snprintf(path, PATH, MEMBERS "/%s", names[i]);
        if (ens_look(path, seen) && seen->owner == session)
            return true;
    }
    return false;
}

bool fault_hide_plan(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    return hide(PLAN, SIM_PROCS);
}

bool fault_hide_members(const struct fault *f, const struct sim_step *step)
{
    (void)f;
    (void)step;
    forged.hid_members += hide(MEMBERS, SIM_PROCS + 1);
    return forged.hidden[SIM_PROCS + 1][0] != '\0';
}

void fault_seal_members(void)
{
    hide(PLAN, SIM_PROCS);
    forged.hid_members += seal(MEMBERS, SIM_PROCS + 1, 0);
}

/* The directory of a ballot (ballot.h), below a chroot or not. */
bool fault_hide_votes(const struct fault *f, const struct sim_step *step)
{
    struct ens_seen seen;
    const char *dir = ens_look("/app/polls", &seen) ? "/app/polls" : "/polls";

    (void)f;
    (void)step;
    if (!ens_look(dir, &seen) || !hide(dir, SIM_PROCS + 2))
        return false;
    forged.hid_votes++;
    return true;
}

/* An operator's wrong ACL strikes all of them. */
bool fault_hide_each(const struct fault *f, const struct sim_step *step)
{
    bool any = false;

    (void)f;
    (void)step;
    for (int p = 0; p < SIM_PROCS; p++) {
        struct ens_seen seen;
        char path[PATH];

        any = (member_of(p, path, &seen) && hide(path, p)) || any;
    }
    return any;
}

bool fault_hide_member(const struct fault *f, const struct sim_step *step)
{
    struct ens_seen seen;
    char path[PATH];

    (void)step;
    return member_of(f->which, path, &seen) && hide(path, f->which);
}

/* ---- Copies ---- */

bool fault_copy(const char *path)
{
    char data[64];
    struct ens_seen seen;

    if (!ens_look(path, &seen) || seen.len < 0 ||
        seen.len > (int32_t)sizeof data)
        return false;
    memcpy(data, seen.data, (size_t)seen.len);
    if (operator_delete(path) != 0)
        return false;
    forged.copies +=
        ens_create(path, data, (size_t)seen.len, ZOO_PERSISTENT) == 0;
    return true;
}

/* The copy stays for as long as the world does. */
bool fault_copy_member(const struct fault *f, const struct sim_step *step)
{
    char path[PATH];
    struct ens_seen seen;

    (void)step;
    if (!member_of(f->which, path, &seen) || !fault_copy(path))
        return false;
    faults_last(0);
    return true;
}
