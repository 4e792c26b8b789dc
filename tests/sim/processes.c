/* The processes of a scene and their sessions, and the rules for every session.
 *
 * The heart of them: the lease.  As long as a session believes that it lives,
 * the leader has not ended it; but for what no library can foresee, a session
 * that is ended by force, and then the belief ends within one time-out.
 *
 * How it can fail: a rule that asks for more than was promised finds faults
 * where none are.  So each follows a sentence of evzk/session.h.
 */
#include "processes.h"

#include <string.h>

#include "area.h"
#include "borrowed.h"
#include "coverage.h"
#include "ens_internal.h"
#include "leases.h"
#include "lib/request/core.h"
#include "steps.h"

enum {
    RETRY_US = 50000,
    RECONNECT_US = 110000, /* A connection that was cut early is back then. */
    SLACK_US = 20000,
    CLOSE_MS = 400,
    AFTER_US = 1000 * 1000, /* By then a freed session has closed itself. */
    CALM_US = 1000 * 1000,  /* By then all is said that a change has caused. */
    CALM_REQUESTS = 60,     /* In that time; what was refused is tried again. */
    PACE_REQUESTS = 300,    /* In a second of any time. */
    IN_VAIN = 24,  /* Times that servers hang up, and no request is to blame. */
    VERDICTS = 60, /* Requests that are to blame for that. */
    FORCED = 64
};

enum told { TOLD_NOTHING, TOLD_UP, TOLD_DOUBT };

/* Faults since the close of a session began.  After a single short one the time
 * suffices to ask anew, so the end must be confirmed. */
enum trouble { NO_TROUBLE, ONE_SHORT, MORE };

static struct own {
    int64_t calm_since, calm_zxid; /* Since then nothing has changed. */
    int64_t calm_seen;             /* The present second of that time ... */
    uint64_t calm_asked;           /* ... and the requests before. */
    int64_t pace_since;            /* A second of any time ... */
    uint64_t pace_asked;           /* ... and the requests before. */
    struct process p;
    struct process_config cfg;
    enum told told;
    bool wanted, opening, calling, starved;
    bool cut_closing; /* A connection was lost, and requests in flight. */
    int64_t late_until, out_since, dead_since, closing_at, freed_at;
    int64_t starved_at;
    enum trouble trouble;      /* Since the session was being closed. */
    int64_t doubts;            /* Times that SUSPENDED was told. */
    int64_t probes, probed_at; /* Syncs so far, and when the newest was seen. */
    int64_t hung_session;
    int64_t verdicts, hung_up; /* Requests to blame so far; and how often the
                                  servers had hung up by the last one. */
} own[SIM_PROCS];
SIM_KEEP(own)

static int64_t disturbed_until; /* 0: not now. */
SIM_KEEP(disturbed_until)

static struct {
    int64_t session[FORCED], czxid[FORCED], copied[FORCED];
    unsigned sessions, czxids, copies, unused;
} forced;
SIM_KEEP(forced)

void (*process_hook)(int proc);
void (*process_trace)(int proc, const evzk_trace *t);
void (*process_leases)(int proc);

/* The library wants a loop, and hands it to the seams, which need none. */
static char base;

struct process *process_of(int proc) { return &own[proc].p; }

bool process_opening(int proc) { return own[proc].opening; }

bool processes_opening(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_opening(p))
            return true;
    }
    return false;
}

bool process_has_session(int proc)
{
    return own[proc].p.s && !own[proc].p.closing;
}

bool process_is_connected(int proc)
{
    int before = sim_enter(proc);
    bool is = evzk_session_connected(own[proc].p.s);

    sim_leave(before);
    return is;
}

bool process_is_idle(const struct process *p)
{
    evzk_session_stats st;

    evzk_session_get_stats(p->s, &st);
    return st.machines == 0;
}

void process_callback(int proc)
{
    if (process_hook)
        process_hook(proc);
}

void process_call_begins(int proc)
{
    own[proc].calling = true;
    own[proc].calm_since = sim_now();
}

void process_call_ends(int proc) { own[proc].calling = false; }

/* The time of each callback is left out of turn_max_us, and once only. */
static void check_counted(int proc, const char *what)
{
    const evzk_session *s = own[proc].p.s;

    if (s && evzk__core_of(s)->out != 1)
        sim_violation("p%d: %s is counted out of the loop step %u times", proc,
                      what, evzk__core_of(s)->out);
}

void process_heard(int proc, const char *what)
{
    own[proc].calm_since = sim_now();
    if (own[proc].p.closed)
        sim_violation("p%d: %s after CLOSED", proc, what);
    if (own[proc].calling)
        sim_violation("p%d: %s inside a call of the library", proc, what);
    if (sim_running() != proc)
        sim_violation("p%d: %s while p%d runs", proc, what, sim_running());
    check_counted(proc, what);
    if (process_leases)
        process_leases(proc);
}

void process_news(int proc, const char *what)
{
    if (own[proc].p.closing)
        sim_violation("p%d: %s after the session was closed", proc, what);
}

bool process_in_doubt(int proc) { return own[proc].told == TOLD_DOUBT; }

int64_t process_doubts(int proc) { return own[proc].doubts; }

bool process_is_sure(int proc)
{
    int before = sim_enter(proc);
    bool is = evzk_session_lease_ms(own[proc].p.s) > 0;

    sim_leave(before);
    return is && !process_in_doubt(proc);
}

bool process_has_lapsed(int proc)
{
    const evzk_session *s = own[proc].p.s;
    evzk_session_stats stats;
    int before = sim_enter(proc);
    bool is;

    evzk_session_get_stats(s, &stats);
    is = stats.lease_ends > 0 || evzk_session_lease_ms(s) == 0;
    sim_leave(before);
    return is;
}

void process_certain(int proc, int64_t *doubts, const char *what)
{
    if (own[proc].told != TOLD_UP)
        sim_violation("p%d: %s before the session told of it", proc, what);
    *doubts = own[proc].doubts;
}

void process_doubtful(int proc, const int64_t *doubts, const char *what)
{
    if (own[proc].doubts == *doubts)
        sim_violation("p%d: %s before the session's SUSPENDED", proc, what);
}

void processes_disturbed(int64_t us)
{
    if (sim_now() + us + RECONNECT_US > disturbed_until)
        disturbed_until = sim_now() + us + RECONNECT_US;
    for (int i = 0; i < SIM_PROCS; i++) {
        if (own[i].p.closing)
            own[i].trouble =
                us > 0 || own[i].trouble != NO_TROUBLE ? MORE : ONE_SHORT;
    }
}

bool processes_are_disturbed(void) { return disturbed_until > sim_now(); }

/* Force. */

bool process_expire(int proc)
{
    struct process *p = &own[proc].p;
    int64_t id = p->n_ids ? p->ids[p->n_ids - 1] : 0;

    if (!id || !ens_alive(id) || !ens_expire(id))
        return false;
    forced.session[forced.sessions++ % FORCED] = id;
    return true;
}

int operator_delete(const char *path)
{
    struct ens_seen seen;
    bool there = ens_look_ahead(path, &seen);
    int rc = ens_delete(path);

    if (rc == 0 && there)
        forced.czxid[forced.czxids++ % FORCED] = seen.czxid;
    return rc;
}

int operator_delete_together(const char *const paths[], size_t n)
{
    const char *there[FORCED];
    int64_t czxid[FORCED];
    struct ens_seen seen;
    size_t found = 0;
    int rc;

    for (size_t i = 0; i < n && found < FORCED; i++) {
        if (!ens_look_ahead(paths[i], &seen))
            continue;
        czxid[found] = seen.czxid;
        there[found++] = paths[i];
    }
    rc = found > 0 ? ens_delete_together(there, found) : ZNONODE;
    for (size_t i = 0; rc == ZOK && i < found; i++)
        forced.czxid[forced.czxids++ % FORCED] = czxid[i];
    return rc;
}

static bool replace(int proc, const char *path,
                    bool (*by)(const char *path, int proc))
{
    struct ens_seen seen;

    if (!ens_look_ahead(path, &seen) || !by(path, proc))
        return false;
    forced.czxid[forced.czxids++ % FORCED] = seen.czxid;
    forced.copied[forced.copies++ % FORCED] = seen.czxid;
    return true;
}

bool operator_copy(int proc, const char *path)
{
    return replace(proc, path, ens_copy);
}

bool operator_seize(int proc, const char *path)
{
    return replace(proc, path, ens_seize);
}

bool operator_restore(int64_t czxid, const char *path)
{
    enum { PERSISTENT = 0 };

    forced.copied[forced.copies++ % FORCED] = czxid;
    return ens_create(path, NULL, 0, PERSISTENT) == ZOK;
}

bool operator_remake(int proc, const char *const paths[], size_t n,
                     const char *path)
{
    int64_t czxid[FORCED];
    struct ens_seen seen, it;

    for (size_t i = 0; i < n; i++) {
        if (n > FORCED || !ens_look_ahead(paths[i], &seen))
            return false;
        czxid[i] = seen.czxid;
    }
    if (!ens_look_ahead(path, &it) || !ens_remake(paths, n, path, proc))
        return false;
    for (size_t i = 0; i < n; i++)
        forced.czxid[forced.czxids++ % FORCED] = czxid[i];
    forced.copied[forced.copies++ % FORCED] = it.czxid;
    return true;
}

/* With what was made below it meanwhile. */
static void remove_copy(const char *path)
{
    enum { BELOW = 8 };
    const char *names[BELOW];
    char child[512];
    size_t n = ens_children(path, names, BELOW);

    for (size_t i = 0; i < n && i < BELOW; i++) {
        snprintf(child, sizeof child, "%s/%s", path, names[i]);
        (void)ens_delete(child);
    }
    (void)operator_delete(path);
}

void operator_remove_copies(void) { ens_copies(remove_copy); }

static bool among(const int64_t *v, int64_t x)
{
    for (unsigned i = 0; x != 0 && i < FORCED; i++) {
        if (v[i] == x)
            return true;
    }
    return false;
}

bool session_forced(int64_t session) { return among(forced.session, session); }

bool operator_deleted(int64_t czxid) { return among(forced.czxid, czxid); }

void operator_note_deleted(int64_t czxid)
{
    forced.czxid[forced.czxids++ % FORCED] = czxid;
}

bool operator_copied(int64_t czxid) { return among(forced.copied, czxid); }

bool operator_deleted_any(void) { return forced.czxids > 0; }

int64_t operator_deletions(void) { return forced.czxids; }

static bool had(int proc, int64_t session)
{
    const struct process *p = process_of(proc);

    for (unsigned i = 0; p && i < p->n_ids; i++) {
        if (p->ids[i] == session)
            return true;
    }
    return false;
}

bool process_any_session(int proc, bool (*is)(int64_t session))
{
    const struct process *p = process_of(proc);

    for (unsigned i = 0; p && i < p->n_ids; i++) {
        if (is(p->ids[i]))
            return true;
    }
    return false;
}

int process_with(int64_t session)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (had(p, session))
            return p;
    }
    return -1;
}

bool session_over(int64_t session)
{
    return ens_session_check(session, 0) == ZSESSIONEXPIRED;
}

bool process_was_frozen(int proc, int64_t since_us)
{
    return own[proc].late_until >= since_us ||
           process_frozen_until(proc) >= since_us;
}

bool process_is_late(int proc, int64_t due_us)
{
    return due_us && sim_now() > due_us + SLACK_US &&
           !process_was_frozen(proc, due_us);
}

bool process_lacked_memory(int proc)
{
    return own[proc].starved || sim_alloc_failing(proc);
}

bool process_may_return(int proc, int rc)
{
    return rc == EVZK_OK ||
           (rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)) ||
           (rc == EVZK_ERR_CLOSED && process_of(proc)->closing);
}

bool process_lacked_memory_since(int proc, int64_t us)
{
    return sim_alloc_failing(proc) ||
           (own[proc].starved && own[proc].starved_at >= us);
}

/* What a session tells. */

static void note_id(struct process *p)
{
    int64_t id = p->s ? evzk_session_id(p->s) : 0;
    unsigned room = sizeof p->ids / sizeof p->ids[0];

    if (id == 0 || (p->n_ids && p->ids[p->n_ids - 1] == id))
        return;
    if (p->n_ids == room) {
        memmove(p->ids, p->ids + 1, (room - 1) * sizeof p->ids[0]);
        p->n_ids--;
    }
    p->ids[p->n_ids++] = id;
}

static bool last_alive(const struct process *p)
{
    return p->n_ids && !session_over(p->ids[p->n_ids - 1]);
}

/* After a short fault the end can be asked for anew: the first question,
 * another connection and the second question go to the leader and back in time.
 */
static bool can_ask_anew(void)
{
    enum { TRIPS = 3 };

    return RECONNECT_US + TRIPS * 2 * ens_link_us() < CLOSE_MS * INT64_C(1000);
}

static void check_closed(int proc, int rc)
{
    struct process *p = &own[proc].p;
    int64_t deadline = own[proc].closing_at + CLOSE_MS * INT64_C(1000);

    if (rc != EVZK_OK && rc != EVZK_ERR_TIMEOUT && rc != EVZK_ERR_AUTH)
        sim_violation("p%d: CLOSED with %s", proc, evzk_errname(rc));
    if (!p->closing && rc != EVZK_ERR_AUTH)
        sim_violation("p%d: CLOSED, but nobody closed it", proc);
    if (rc == EVZK_ERR_TIMEOUT && sim_now() < deadline)
        sim_violation("p%d: CLOSED with TIMEOUT too early", proc);
    if (rc == EVZK_ERR_TIMEOUT && own[proc].trouble != MORE &&
        !process_was_frozen(proc, own[proc].closing_at) &&
        (own[proc].trouble == NO_TROUBLE || can_ask_anew()))
        sim_violation("p%d: CLOSED with TIMEOUT, but servers answered", proc);
    for (unsigned i = 0; rc == EVZK_OK && i < p->n_ids; i++) {
        if (!session_over(p->ids[i]))
            sim_violation("p%d: CLOSED, but the session is alive", proc);
    }
    p->closed = true;
    p->open = false;
    p->close_rc = rc;
}

/* Whether an event may follow what was told before. */
static bool follows(const struct own *o, evzk_session_event ev)
{
    if (o->p.closed || (o->p.closing && ev != EVZK_SESSION_CLOSED))
        return false;
    switch (ev) {
    case EVZK_SESSION_CONNECTED:
        return o->told == TOLD_NOTHING;
    case EVZK_SESSION_SUSPENDED:
        return o->told == TOLD_UP;
    case EVZK_SESSION_RESUMED:
        return o->told == TOLD_DOUBT;
    case EVZK_SESSION_EXPIRED:
        return o->told != TOLD_NOTHING;
    case EVZK_SESSION_CLOSED:
        return true;
    }
    return false;
}

static void check_rc(int proc, evzk_session_event ev, int rc, int want)
{
    if (rc != want)
        sim_violation("p%d: event %d with %s", proc, ev, evzk_errname(rc));
}

static void note_event(int proc, evzk_session_event ev, int rc)
{
    struct own *o = &own[proc];

    switch (ev) {
    case EVZK_SESSION_CONNECTED:
    case EVZK_SESSION_RESUMED:
        o->told = TOLD_UP;
        check_rc(proc, ev, rc, EVZK_OK);
        break;
    case EVZK_SESSION_SUSPENDED:
        o->told = TOLD_DOUBT;
        o->doubts++;
        check_rc(proc, ev, rc, EVZK_OK);
        break;
    case EVZK_SESSION_EXPIRED:
        o->told = TOLD_NOTHING;
        check_rc(proc, ev, rc, EVZK_ERR_EXPIRED);
        o->p.expired = true;
        if (last_alive(&o->p))
            sim_violation("p%d: EXPIRED, but the session is alive", proc);
        break;
    case EVZK_SESSION_CLOSED:
        check_closed(proc, rc);
        break;
    }
}

static void on_session(evzk_session *s, evzk_session_event ev, int rc,
                       void *arg)
{
    int proc = (int)(intptr_t)arg;
    struct own *o = &own[proc];

    sim_say("p%d session %s %s", proc, evzk_session_event_name(ev),
            evzk_errname(rc));
    process_heard(proc, "the session's callback");
    if (o->p.s != s) {
        sim_violation("p%d: %s after the session was freed", proc,
                      evzk_session_event_name(ev));
        return;
    }
    note_id(&o->p);
    if (!follows(o, ev))
        sim_violation("p%d: %s out of turn", proc, evzk_session_event_name(ev));
    note_event(proc, ev, rc);
    process_callback(proc);
    if (o->p.s == s && ev == EVZK_SESSION_CLOSED)
        process_free(proc);
}

static void on_trace(const evzk_trace *t, void *arg)
{
    int proc = (int)(intptr_t)arg;

    if (!coverage_note(t))
        sim_violation("p%d: %s has no such arrow: %s, %s: %s", proc, t->kind,
                      t->from ? t->from : "-", t->event,
                      t->entered ? t->to : "stays");
    if (process_trace)
        process_trace(proc, t);
    if (sim_talking())
        sim_say("p%d %s %s %s --%s(%d)--> %s", proc, t->kind, t->path,
                t->from ? t->from : "-", t->event, t->rc, t->to);
    borrowed_check(proc, own[proc].p.s);
}

static void on_log(evzk_log_level level, const char *line, void *arg)
{
    int proc = (int)(intptr_t)arg;

    sim_say("p%d log: %s", proc, line);
    if (level == EVZK_LOG_ERROR && strstr(line, "illegal move"))
        sim_violation("p%d: %s", proc, line);
    if (strstr(line, "the servers hang up") && !strstr(line, "is left")) {
        own[proc].verdicts++;
        own[proc].hung_up = ens_hang_ups(proc);
    }
}

/* Opening, closing, freeing. */

static void open_now(intptr_t arg)
{
    int proc = (int)arg, rc;
    struct own *o = &own[proc];
    evzk_session_options opt = {.timeout_ms = o->cfg.timeout_ms,
                                .close_timeout_ms = CLOSE_MS,
                                .chroot = o->cfg.chroot,
                                .make_chroot = o->cfg.make_chroot,
                                .window = o->cfg.window ? o->cfg.window : 8,
                                .log = on_log,
                                .log_arg = (void *)arg,
                                .log_level = sim_talking() ? EVZK_LOG_DEBUG
                                                           : EVZK_LOG_WARN,
                                .trace = on_trace,
                                .trace_arg = (void *)arg};

    process_call_begins(proc);
    rc = evzk_session_open((struct event_base *)(void *)&base,
                           "127.0.0.1:2181,127.0.0.2:2181,127.0.0.3:2181", &opt,
                           on_session, (void *)arg, &o->p.s);
    process_call_ends(proc);
    o->opening = rc == EVZK_ERR_NOMEM && process_lacked_memory(proc);
    o->p.open = rc == EVZK_OK;
    if (o->opening)
        scene_timer_set(RETRY_US, proc, open_now, proc);
    else if (rc != EVZK_OK)
        sim_violation("p%d: open gave %s", proc, evzk_errname(rc));
}

/* By a timer, so that what it allocates can be made to fail. */
void process_open(int proc, const struct process_config *cfg)
{
    /* One by one: padding would be digested, too. */
    own[proc].cfg.timeout_ms = cfg->timeout_ms;
    own[proc].cfg.chroot = cfg->chroot;
    own[proc].cfg.make_chroot = cfg->make_chroot;
    own[proc].cfg.window = cfg->window;
    own[proc].wanted = own[proc].opening = true;
    scene_timer_set(0, proc, open_now, proc);
}

static void stop_opening(int proc)
{
    if (own[proc].opening)
        scene_timer_cancel(open_now, proc);
    own[proc].opening = false;
    own[proc].p.closing = true;
}

static void note_cut(struct own *o)
{
    const struct evzk__core *s = evzk__core_of(o->p.s);

    if (s->phase == EVZK__DRAINING && !evzk__session_up(s))
        o->cut_closing = true;
}

/* The servers have just hung up: part of the time is for another connection. */
static bool was_hung_up_on(const struct own *o)
{
    return ens_shut((int)(o - own)) && !evzk__session_up(evzk__core_of(o->p.s));
}

void process_close(int proc)
{
    struct own *o = &own[proc];
    int want = o->p.closing || o->p.closed ? EVZK_ERR_CLOSED : EVZK_OK, rc;

    if (!o->p.s) {
        stop_opening(proc);
        return;
    }
    process_call_begins(proc);
    rc = evzk_session_close(o->p.s);
    process_call_ends(proc);
    if (rc != want)
        sim_violation("p%d: close gave %s", proc, evzk_errname(rc));
    if (!o->p.closing) {
        o->closing_at = sim_now();
        o->trouble = disturbed_until > 0 || was_hung_up_on(o) ? MORE
                     : process_is_connected(proc)             ? NO_TROUBLE
                                                              : ONE_SHORT;
    }
    o->p.closing = true;
    note_cut(o); /* Without a connection it may be over in this step. */
}

/* Has time go on, when nothing else does. */
static void nothing(intptr_t arg) { (void)arg; }

void process_free(int proc)
{
    struct own *o = &own[proc];
    evzk_session *s = o->p.s;

    stop_opening(proc);
    o->p.s = NULL;
    o->p.open = false;
    o->freed_at = sim_now();
    scene_timer_set(2 * AFTER_US, -1, nothing, proc);
    process_call_begins(proc);
    evzk_session_free(s);
    process_call_ends(proc);
    leases_drop(proc);
}

/* A session that was not closed before is closed by the loop. */
static bool closes_yet(int proc)
{
    const struct own *o = &own[proc];
    int64_t since = o->freed_at;

    since = o->late_until > since ? o->late_until : since;
    return o->wanted && sim_live(proc) > 0 && sim_now() <= since + AFTER_US;
}

bool processes_gone(void)
{
    for (int i = 0; i < SIM_PROCS; i++) {
        if (own[i].p.s || own[i].opening || closes_yet(i))
            return false;
    }
    return true;
}

/* The rules that are asked after every step. */

static void check_lease(int proc)
{
    struct own *o = &own[proc];
    int64_t id = evzk_session_id(o->p.s), now = sim_now();
    uint32_t left = evzk_session_lease_ms(o->p.s);

    if (left > o->cfg.timeout_ms)
        sim_violation("p%d: a lease of %u ms is more than a time-out", proc,
                      left);
    if (left == 0 || (id && ens_alive(id))) {
        o->dead_since = 0;
        return;
    }
    if (o->dead_since == 0)
        o->dead_since = now;
    if (!session_forced(id))
        sim_violation("p%d: a lease of %u ms of a session that is over", proc,
                      left);
    else if (now - o->dead_since > (int64_t)o->cfg.timeout_ms * 1000)
        sim_violation("p%d: a lease long after the session was ended", proc);
}

static void check_told(int proc)
{
    struct own *o = &own[proc];
    bool up = evzk_session_connected(o->p.s);

    if (up && o->told != TOLD_UP)
        sim_violation("p%d: connected, and not told", proc);
    if (up || o->told != TOLD_UP || o->p.closing) {
        o->out_since = 0;
        return;
    }
    if (o->out_since == 0)
        o->out_since = sim_now();
    if (sim_now() - o->out_since > SLACK_US &&
        !process_was_frozen(proc, o->out_since))
        sim_violation("p%d: not connected, and not told", proc);
}

/* A sync is answered, and the next one sent, or there is doubt: in half a
 * time-out, twice a probe's interval and one more. */
static void check_silence(int proc, const evzk_session_stats *st)
{
    struct own *o = &own[proc];
    int64_t now = sim_now(), most = o->cfg.timeout_ms * INT64_C(1000) / 2;

    if (o->told != TOLD_UP || o->p.closing ||
        (int64_t)st->probes != o->probes || o->probed_at == 0) {
        o->probes = (int64_t)st->probes;
        o->probed_at = now;
    }
    if (now - o->probed_at > most + SLACK_US &&
        !process_was_frozen(proc, o->probed_at))
        sim_violation("p%d: the leader is silent, and it was not told", proc);
}

static bool is_calm(int proc)
{
    const struct own *o = &own[proc];

    return o->told == TOLD_UP && !o->p.closing && disturbed_until == 0 &&
           !ens_refused(proc) && !sim_alloc_failing(proc) &&
           !process_was_frozen(proc, o->calm_since) &&
           o->calm_zxid == ens_proposed();
}

/* Nobody polls: while nothing changes, and nobody calls, nothing is asked but
 * for the probes. */
static void check_polling(int proc, const evzk_session_stats *st)
{
    struct own *o = &own[proc];
    uint64_t asked = st->requests > st->probes ? st->requests - st->probes : 0;

    if (!is_calm(proc)) {
        o->calm_zxid = ens_proposed();
        o->calm_since = sim_now();
    }
    if (sim_now() - o->calm_since < CALM_US ||
        sim_now() - o->calm_seen >= CALM_US) {
        o->calm_asked = asked;
        o->calm_seen = sim_now();
    }
    if (asked > o->calm_asked + CALM_REQUESTS)
        sim_violation("p%d: asks again and again, and nothing changes", proc);
}

/* Nobody spins: whatever others do meanwhile, a session asks for no more in a
 * second. */
static void check_pace(int proc, const evzk_session_stats *st)
{
    struct own *o = &own[proc];

    if (sim_now() - o->pace_since >= CALM_US) {
        o->pace_since = sim_now();
        o->pace_asked = st->requests;
    }
    if (st->requests > o->pace_asked + PACE_REQUESTS)
        sim_violation("p%d: asks again and again, without a pause", proc);
}

/* A request at which the servers hang up ends the connection of all that the
 * session has: it is found out, and whoever asks for it does not go on.  In the
 * next session what was begun anew is another request. */
static void check_hang_ups(int proc)
{
    struct own *o = &own[proc];
    int64_t session = o->p.n_ids ? o->p.ids[o->p.n_ids - 1] : 0;

    if (session != o->hung_session)
        o->hung_up = ens_hang_ups(proc);
    o->hung_session = session;
    if (ens_hang_ups(proc) > o->hung_up + IN_VAIN)
        sim_violation("p%d: the servers hang up, and nobody is to blame", proc);
    if (o->verdicts > VERDICTS)
        sim_violation("p%d: the servers hang up at it again and again", proc);
}

bool process_closed_badly(int proc)
{
    return own[proc].cut_closing || own[proc].p.close_rc != EVZK_OK;
}

static void check_one(int proc)
{
    struct own *o = &own[proc];
    evzk_session_stats st;
    int before;

    if (process_frozen_until(proc) > o->late_until)
        o->late_until = process_frozen_until(proc);
    if (sim_alloc_failing(proc)) {
        o->starved = true;
        o->starved_at = sim_now();
    }
    if (!o->p.s)
        return;
    before = sim_enter(proc);
    note_id(&o->p);
    check_lease(proc);
    check_told(proc);
    evzk_session_get_stats(o->p.s, &st);
    check_silence(proc, &st);
    check_polling(proc, &st);
    check_pace(proc, &st);
    check_hang_ups(proc);
    sim_leave(before);
}

void processes_check(void)
{
    if (disturbed_until <= sim_now())
        disturbed_until = 0;
    for (int i = 0; i < SIM_PROCS; i++) {
        if (own[i].wanted)
            check_one(i);
        if (own[i].p.s)
            note_cut(&own[i]);
        if (own[i].p.s && evzk__core_of(own[i].p.s)->out != 0)
            sim_violation("p%d: a callback is over, and still counted", i);
    }
    leases_check();
}

void processes_check_end(void)
{
    for (int i = 0; i < SIM_PROCS; i++) {
        if (own[i].p.s || own[i].opening)
            sim_violation("p%d: the session was not freed", i);
        if (sim_live(i))
            sim_violation("p%d: %zu blocks of memory are left", i, sim_live(i));
        area_check_freed(i);
    }
    if (ens_sessions())
        sim_violation("%zu sessions are left", ens_sessions());
    if (ens_watches())
        sim_violation("%zu watches are left", ens_watches());
}
