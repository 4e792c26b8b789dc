/* The table of the faults; what is prepared for the present step; the names.
 *
 * How it can fail: a fault is tried that no run can reach, or one is left out
 * that would have struck.  What a step does inside, how many allocations and
 * callbacks, is therefore not guessed: the step is taken once and put back. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ens.h"
#include "faults_kinds.h"
#include "processes.h"
#include "wire.h"
#include "world.h"

/* What a fault is tried before. */
enum {
    ARRIVAL = 1 << SIM_ARRIVAL,
    TREE = 1 << SIM_TREE,
    TIMER = 1 << SIM_SCENE_TIMER,
    LOOP = 1 << SIM_LOOP
};

/* The arguments after the name. */
enum form {
    PLAIN,
    SERVER,   /* @server */
    FOLLOWER, /* @server, but for the leader */
    PROC,     /* @process */
    FORGERY,  /* @kind */
    VOTE,     /* @kind, in two-phase commits */
    WATCHED,  /* @nth of its watches */
    SPOIL,    /* @way */
    CONTENT,  /* @kind, of what is about to be read */
    CALL,     /* @call */
    INSIDE,   /* @nth */
    CALLBACK  /* @nth/call */
};

struct kind {
    const char *name;
    fault_fn *strike;
    unsigned when;
    enum form form;
    const char *about;
};

static fault_fn call, call_still, callback, oom, oom_on;

/* clang-format off */
static const struct kind kinds[] = {
{"cut",           fault_cut,            ARRIVAL|LOOP, PLAIN,    "the connection is reset: what is on its way is lost"},
{"cut-after",     fault_cut_after,      ARRIVAL,      PLAIN,    "applied, and the reply is lost"},
{"late",          fault_late,           ARRIVAL,      PLAIN,    "applied only after the first read on a new connection"},
{"late-at",       fault_late_at,        ARRIVAL,      SERVER,   "the same, at this server"},
{"slow-leader",   fault_slow_leader,    ARRIVAL,      PLAIN,    "for a while each write takes long: leases end, and connections stay"},
{"lagging",       fault_lagging,        ARRIVAL|LOOP, FOLLOWER, "moved to a follower that lags behind"},
{"hold-replies",  fault_hold_replies,   ARRIVAL|LOOP, PLAIN,    "replies are held past the time-out"},
{"hold-requests", fault_hold_requests,  ARRIVAL,      PLAIN,    "requests are held past the time-out"},
{"partition",     fault_partition,      ARRIVAL|LOOP, PLAIN,    "nothing gets through, past the session"},
{"follower",      fault_follower,       ARRIVAL,      PLAIN,    "its follower is cut from the leader, past the session"},
{"refuse",        fault_refuse,         ARRIVAL|LOOP, PLAIN,    "its server is away for a while"},
{"starve",        fault_starve,         ARRIVAL,      PLAIN,    "cut, and no descriptor is free for a while"},
{"stranger",      fault_stranger,       ARRIVAL,      PLAIN,    "what it connects to greets wrongly for a while"},
{"outage",        fault_outage,         ARRIVAL,      PLAIN,    "no server is there, past the session"},
{"throttle",      fault_throttle,       ARRIVAL,      PLAIN,    "the request is refused with an error, and not done"},
{"throttle-writes", fault_throttle_writes, ARRIVAL,   PLAIN,    "the next 9 writes, in groups 14, are refused so"},
{"throttle-reads", fault_throttle_reads, ARRIVAL,     PLAIN,    "the next 9 reads are refused so"},
{"lost-refused",  fault_lost_refused,   ARRIVAL,      PLAIN,    "a write is applied, its reply is lost, and the next 9 writes, in groups 14, behind the begin of a two-phase commit 92, are refused"},
{"hangs-up",      fault_hangs_up,       ARRIVAL,      PLAIN,    "the servers hang up at this request, always"},
{"expire",        fault_expire,         ARRIVAL|LOOP, PLAIN,    "the session ends"},
{"expire-after",  fault_expire_after,   ARRIVAL,      PLAIN,    "the session ends once this was received"},
{"close-first",   fault_close_first,    ARRIVAL,      PLAIN,    "a lost connection asked for the session's end before: no answer"},
{"freeze",        fault_freeze,         LOOP,         PLAIN,    "the process is stopped past its session"},
{"freeze-short",  fault_freeze_short,   LOOP,         PLAIN,    "the process is stopped for a while"},
{"slow",          fault_slow,           LOOP,         PLAIN,    "each turn of its loop does one thing of each kind, and takes its time, for a while"},
{"delete-own",    fault_delete_own,     ARRIVAL|TREE, PROC,     "an operator deletes its znode"},
{"delete-pred",   fault_delete_pred,    ARRIVAL|TREE, PROC,     "an operator deletes the one before its own"},
{"delete-pair",   fault_delete_pair,    ARRIVAL|TREE, PROC,     "an operator deletes that one and its own in one transaction; the events come apart"},
{"delete-batch",  fault_delete_batch,   ARRIVAL|TREE, PLAIN,    "an operator deletes all in the directory in one transaction; the events come apart"},
{"replace-own",   fault_replace_own,    ARRIVAL|TREE, PROC,     "an operator puts a persistent znode of the same name in its place"},
{"replace-away",  fault_replace_away,   ARRIVAL|TREE, PROC,     "the same, while its connection is cut"},
{"seize-own",     fault_seize_own,      ARRIVAL|TREE, PROC,     "an operator deletes its newest znode without a GUID, and another session makes one of that path, for a while"},
{"copy-beside",   fault_copy_beside,    ARRIVAL|TREE, PROC,     "its connection is cut, and beside its znode comes one of its GUID and a lower number"},
{"deny",          fault_deny,           ARRIVAL,      PLAIN,    "a write is refused, as to one without the right; what it was to delete, an operator deletes later"},
{"fill",          fault_fill,           ARRIVAL,      PLAIN,    "a quota is used up for a while: nobody can make a znode"},
{"remake-away",   fault_remake_away,    ARRIVAL|TREE, PROC,     "its connection is cut, and its directory made anew, with a copy of its znode alone"},
{"set-own",       fault_set_own,        ARRIVAL|TREE, PROC,     "an operator changes its znode's data"},
{"empty-dir",     fault_empty_dir,      ARRIVAL|TREE, PLAIN,    "the empty directory is deleted"},
{"delete-all",    fault_delete_all,     ARRIVAL|TREE, PLAIN,    "all in the directory is deleted, and it"},
{"foreign",       fault_foreign,        ARRIVAL|TREE, PLAIN,    "a child that is no contender"},
{"foreign-lower", fault_foreign_lower,  ARRIVAL|TREE, PLAIN,    "another program's contender, for a while, before all"},
{"foreign-higher",fault_foreign_higher, ARRIVAL|TREE, PLAIN,    "the same, behind all"},
{"foreign-curator",fault_foreign_curator,ARRIVAL|TREE, PLAIN,   "Curator's write lock is there for a while"},
{"foreign-kazoo", fault_foreign_kazoo,  ARRIVAL|TREE, PLAIN,    "Kazoo's lock is there for a while"},
{"foreign-mutex", fault_foreign_mutex,  ARRIVAL|TREE, PLAIN,    "Curator's mutex contends for a while"},
{"foreign-nameless",fault_foreign_nameless,ARRIVAL|TREE,PLAIN,  "a participant's name without a GUID is there for a while, in double barriers and shards"},
{"copy-ready",    fault_copy_ready,     ARRIVAL|TREE, PLAIN,    "a double barrier's ready comes for a while, as copied from another directory"},
{"older-ready",   fault_older_ready,    ARRIVAL|TREE, PLAIN,    "a ready of this directory comes for a while, for participants that are to come"},
{"forge-plan",    fault_forge_plan,     ARRIVAL|TREE, FORGERY,  "a well-formed plan of the shards that none of them has made"},
{"hide-plan",     fault_hide_plan,      ARRIVAL|TREE, PLAIN,    "the plan may not be read for a while"},
{"hide-members",  fault_hide_members,   ARRIVAL|TREE, PLAIN,    "nor the list of members"},
{"hide-member",   fault_hide_member,    ARRIVAL|TREE, PROC,     "nor its member's znode"},
{"hide-each",     fault_hide_each,      ARRIVAL|TREE, PLAIN,    "nor the znode of any member"},
{"copy-member",   fault_copy_member,    ARRIVAL|TREE, PROC,     "in its place comes one that no session owns, to stay"},
{"forge-vote",    fault_forge_vote,     ARRIVAL|TREE, VOTE,     "beside what a site of a transaction has comes a vote that it has not cast"},
{"hide-votes",    fault_hide_votes,     ARRIVAL|TREE, PLAIN,    "the directory of a ballot may not be listed for a while"},
{"hide-change",   fault_hide_change,    ARRIVAL,      WATCHED,  "what it watches may not be read for a while, and changes meanwhile"},
{"hide-delete",   fault_hide_delete,    ARRIVAL,      WATCHED,  "the same, and it goes"},
{"hide-replace",  fault_hide_replace,   ARRIVAL,      WATCHED,  "the same, and another one of its name comes in its place"},
{"history-anew",  fault_history_anew,   ARRIVAL,      PLAIN,    "the servers are set up anew: all sessions end, and zxids begin at 1"},
{"history-back",  fault_history_back,   ARRIVAL,      PLAIN,    "the same, and the sessions live on, as after a backup was restored"},
{"spoil",         fault_spoil,          ARRIVAL|TREE, SPOIL,    "nobody can finish an item of a queue for a while: something is below it, or it may not be read, or counted"},
{"day",           fault_day,            ARRIVAL,      PLAIN,    "a day passes, by the servers' clock, where receipts stand"},
{"malform",       fault_malform,        ARRIVAL,      CONTENT,  "what is about to be read says for a while what no recipe has written"},
{"call",          call,                 ARRIVAL|LOOP|TIMER, CALL, "the application makes this call"},
{"call-still",    call_still,           ARRIVAL,      CALL,     "the same, and its server stands still"},
{"callback",      callback,             LOOP|TIMER,   CALLBACK, "it makes this call in the nth callback"},
{"oom",           oom,                  LOOP|TIMER,   INSIDE,   "the nth allocation fails"},
{"oom-on",        oom_on,               LOOP|TIMER,   INSIDE,   "it fails, and all for a while after it"},
};
/* clang-format on */
enum { KINDS = sizeof kinds / sizeof kinds[0] };
_Static_assert(KINDS <= UINT8_MAX, "the code of a fault is a byte");

enum { ROUND_US = 10 * 1000 * 1000 };

static const struct sim_recipe *recipe; /* The same for a whole run. */
static unsigned callbacks;              /* Of the present step. */

static struct {
    int64_t healed_at, healed_by; /* Told apart only as far as it matters. */
    int32_t cut;      /* The process plus one: its connection, afterwards. */
    int32_t expire;   /* The process plus one: its session, afterwards. */
    int32_t refuse;   /* The process plus one: its writes, afterwards, .. */
    int32_t refusals; /* .. so many. */
    int32_t none;     /* No padding. */
    int32_t in;       /* The process plus one: in a callback of it... */
    uint32_t nth;     /* ... so many from here... */
    uint32_t which;   /* ... this call is made. */
    int32_t was[SIM_PROCS]; /* Routes before they were changed, plus two. */
} ready;
SIM_KEEP(ready)

void faults_last(int64_t us)
{
    int64_t at = sim_now() + us;

    if (us > 0)
        processes_disturbed(us);
    if (at > ready.healed_at)
        ready.healed_at = at;
    if (at > faults_healed_by())
        ready.healed_by = (at / ROUND_US + 1) * ROUND_US;
}

int64_t faults_healed_at(void) { return ready.healed_at; }

int64_t faults_healed_by(void)
{
    return ready.healed_by > ROUND_US ? ready.healed_by : ROUND_US;
}

int64_t faults_session(int proc)
{
    const struct process *p = proc < 0 ? NULL : process_of(proc);

    return p && p->n_ids ? p->ids[p->n_ids - 1] : 0;
}

void faults_cut_after(int proc) { ready.cut = proc + 1; }

void faults_refuse_after(int proc, uint8_t n)
{
    ready.refuse = proc + 1;
    ready.refusals = n;
}

void faults_expire_after(int proc) { ready.expire = proc + 1; }

static void route_back(intptr_t proc)
{
    wire_route((int)proc, ready.was[proc] - 2);
    ready.was[proc] = 0;
}

void faults_route(int proc, int server, int64_t us)
{
    if (ready.was[proc])
        scene_timer_cancel(route_back, proc);
    else
        ready.was[proc] = wire_routed(proc) + 2;
    wire_route(proc, server);
    scene_timer_set(us, -1, route_back, proc);
    faults_last(us);
}

static bool call(const struct fault *f, const struct sim_step *step)
{
    int before = sim_enter(step->proc);
    bool made = recipe->call(step->proc, f->which);

    sim_leave(before);
    if (made)
        faults_last(0);
    return made;
}

static bool call_still(const struct fault *f, const struct sim_step *step)
{
    if (!call(f, step))
        return false;
    fault_hold_replies(f, step);
    return true;
}

static bool callback(const struct fault *f, const struct sim_step *step)
{
    if (ready.in)
        return false;
    ready.in = step->proc + 1;
    ready.nth = f->nth;
    ready.which = f->which;
    faults_last(0);
    return true;
}

static void hook(int proc)
{
    callbacks++;
    if (ready.in != proc + 1 || --ready.nth > 0)
        return;
    ready.in = 0;
    recipe->call(proc, ready.which);
}

static void heal(intptr_t proc) { sim_alloc_heal((int)proc); }

static bool starve(const struct fault *f, int proc, bool on)
{
    if (sim_alloc_failing(proc))
        return false;
    sim_alloc_fail(proc, f->nth, on);
    scene_timer_set(FAULT_SHORT, -1, heal, proc);
    faults_last(FAULT_SHORT);
    return true;
}

static bool oom(const struct fault *f, const struct sim_step *step)
{
    return starve(f, step->proc, false);
}

static bool oom_on(const struct fault *f, const struct sim_step *step)
{
    return starve(f, step->proc, true);
}

bool fault_is_oom(const struct fault *f)
{
    return kinds[f->code].form == INSIDE;
}

bool fault_is_kind(const struct fault *f, const char *name)
{
    return strcmp(kinds[f->code].name, name) == 0;
}

/* A machine asks again eight times, a member of a group twelve times. */
uint8_t fault_refusals(void)
{
    return strcmp(recipe->name, "group") == 0 ? 14 : 9;
}

/* A plan that was refused is tried again later than the rules of shards wait,
 * and the users of two-phase commit do not begin again. */
bool fault_may_fill(void)
{
    return strncmp(recipe->name, "two-phase", 9) != 0 &&
           strcmp(recipe->name, "shards") != 0 &&
           strcmp(recipe->name, "watch-node") != 0 &&
           strcmp(recipe->name, "write-once") != 0;
}

bool fault_gathers(void)
{
    return strncmp(recipe->name, "double-barrier", 14) == 0 ||
           strncmp(recipe->name, "shards", 6) == 0;
}

void faults_begin(const struct sim_recipe *r)
{
    recipe = r;
    process_hook = hook;
}

void faults_after(const struct sim_step *step)
{
    int conn = ready.cut ? wire_conn_of(ready.cut - 1) : -1;

    (void)step;
    if (conn >= 0)
        wire_cut(conn);
    if (ready.expire)
        process_expire(ready.expire - 1);
    if (ready.refuse)
        ens_throttle_writes(ready.refuse - 1, (uint8_t)ready.refusals);
    if (ready.cut || ready.expire)
        faults_last(0);
    if (ready.healed_at < sim_now())
        ready.healed_at = 0;
    ready.cut = ready.refuse = ready.refusals = 0;
    ready.expire = 0;
    ready.in = 0;
    ready.nth = ready.which = 0;
}

static unsigned calls(void)
{
    unsigned n = 0;

    while (recipe->calls[n])
        n++;
    return n;
}

/* The first and the last of a kind's alternatives; none: last < first. */
static void range(enum form form, const struct sim_step *step, int *first,
                  int *last)
{
    *first = *last = 0;
    switch (form) {
    case PLAIN:
        break;
    case SERVER:
        *last = SIM_SERVERS - 1;
        break;
    case FOLLOWER:
        *first = 1;
        *last = SIM_SERVERS - 1;
        break;
    case PROC:
        *first = step->proc < 0 ? 0 : step->proc;
        *last = step->proc < 0 ? SIM_PROCS - 1 : step->proc;
        break;
    case FORGERY:
        *last = FAULT_FORGERIES - 1;
        break;
    case VOTE:
        *last =
            strncmp(recipe->name, "two-phase", 9) == 0 ? FAULT_VOTES - 1 : -1;
        break;
    case WATCHED:
        *last = FAULT_WATCHES - 1;
        break;
    case SPOIL:
        *last = FAULT_SPOILS - 1;
        break;
    case CONTENT:
        *last = fault_contents(step) - 1;
        break;
    case CALL:
    case CALLBACK:
        *last = (int)calls() - 1;
        break;
    case INSIDE:
        break;
    }
}

static size_t add(struct fault *out, size_t n, size_t code, unsigned nth,
                  const struct sim_step *step)
{
    int which, last;

    range(kinds[code].form, step, &which, &last);
    for (; which <= last; which++) {
        if (n == FAULTS_MAX) {
            sim_violation("more faults than there is room for");
            break;
        }
        out[n].code = (uint8_t)code;
        out[n].which = (uint8_t)which;
        out[n++].nth = (uint16_t)nth;
    }
    return n;
}

static bool inside(const struct kind *k)
{
    return k->form == INSIDE || k->form == CALLBACK;
}

/* Is the fault tried before such a step? */
static bool fits(const struct kind *k, const struct sim_step *step)
{
    if (!(k->when & 1U << step->kind))
        return false;
    return step->proc >= 0 || step->kind == SIM_TREE;
}

size_t faults_before(const struct sim_step *step, struct fault *out)
{
    size_t n = 0;

    for (size_t i = 0; i < KINDS; i++) {
        if (fits(&kinds[i], step) && !inside(&kinds[i]))
            n = add(out, n, i, 0, step);
    }
    return n;
}

void faults_watch(const struct sim_step *step, struct faults_inside *in)
{
    callbacks = 0;
    in->callbacks = 0;
    in->allocs = step->proc < 0 ? 0 : sim_alloc_count(step->proc);
}

void faults_watched(const struct sim_step *step, struct faults_inside *in)
{
    in->callbacks = callbacks;
    in->allocs = step->proc < 0 ? 0 : sim_alloc_count(step->proc) - in->allocs;
}

size_t faults_within(const struct sim_step *step,
                     const struct faults_inside *in, struct fault *out,
                     size_t n)
{
    for (size_t i = 0; i < KINDS; i++) {
        unsigned times = kinds[i].form == INSIDE ? in->allocs : in->callbacks;

        if (!fits(&kinds[i], step) || !inside(&kinds[i]))
            continue;
        for (unsigned k = 1; k <= times; k++)
            n = add(out, n, i, k, step);
    }
    return n;
}

bool fault_strike(const struct fault *f, const struct sim_step *step)
{
    if (!fits(&kinds[f->code], step))
        return false;
    if (!kinds[f->code].strike(f, step))
        return false;
    processes_disturbed(0);
    return true;
}

void fault_text(const struct fault *f, char out[FAULT_TEXT])
{
    const struct kind *k = &kinds[f->code];

    switch (k->form) {
    case PLAIN:
        snprintf(out, FAULT_TEXT, "%s", k->name);
        break;
    case SERVER:
    case FOLLOWER:
    case PROC:
    case FORGERY:
    case VOTE:
    case WATCHED:
    case SPOIL:
    case CONTENT:
        snprintf(out, FAULT_TEXT, "%s@%d", k->name, f->which);
        break;
    case CALL:
        snprintf(out, FAULT_TEXT, "%s@%s", k->name, recipe->calls[f->which]);
        break;
    case INSIDE:
        snprintf(out, FAULT_TEXT, "%s@%d", k->name, f->nth);
        break;
    case CALLBACK:
        snprintf(out, FAULT_TEXT, "%s@%d/%s", k->name, f->nth,
                 recipe->calls[f->which]);
        break;
    }
}

static bool parse_call(const char *name, struct fault *f)
{
    for (unsigned i = 0; recipe->calls[i]; i++) {
        if (strcmp(recipe->calls[i], name) == 0) {
            f->which = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool parse_number(const char *text, char stop, unsigned max,
                         unsigned *value, const char **rest)
{
    char *end;
    unsigned long x = strtoul(text, &end, 10);

    *value = (unsigned)x;
    *rest = end;
    return end != text && *end == stop && x <= max;
}

static bool parse_rest(const struct kind *k, const char *rest, struct fault *f)
{
    unsigned x = 0;
    bool ok = false;

    switch (k->form) {
    case PLAIN:
        return *rest == '\0';
    case SERVER:
    case FOLLOWER:
    case PROC:
    case FORGERY:
    case VOTE:
    case WATCHED:
    case SPOIL:
        ok = *rest == '@' && parse_number(rest + 1, '\0', 9, &x, &rest);
        f->which = (uint8_t)x;
        return ok;
    case CONTENT:
        ok = *rest == '@' && parse_number(rest + 1, '\0', UINT8_MAX, &x, &rest);
        f->which = (uint8_t)x;
        return ok;
    case CALL:
        return *rest == '@' && parse_call(rest + 1, f);
    case INSIDE:
        ok = *rest == '@' && parse_number(rest + 1, '\0', 9999, &x, &rest);
        break;
    case CALLBACK:
        ok = *rest == '@' && parse_number(rest + 1, '/', 9999, &x, &rest) &&
             parse_call(rest + 1, f);
        break;
    }
    f->nth = (uint16_t)x;
    return ok && x > 0;
}

bool fault_parse(const char *text, struct fault *f)
{
    size_t len = strcspn(text, "@");

    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) != len ||
            strncmp(kinds[i].name, text, len) != 0)
            continue;
        f->code = (uint8_t)i;
        return parse_rest(&kinds[i], text + len, f);
    }
    return false;
}

void faults_list(void (*line)(const char *name, const char *about))
{
    for (size_t i = 0; i < KINDS; i++)
        line(kinds[i].name, kinds[i].about);
}
