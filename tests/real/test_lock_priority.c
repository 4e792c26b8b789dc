/*
 * Locks that are not equally urgent: in which order they are granted, how many
 * may be overtaken, which sessions wake, how locks leave the priority wait, and
 * which holders are asked to let go.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>

#include "test_many.h"

enum { GRACE_MS = 500, SESSIONS = 51 };

/* A lock with a priority; the options are kept for the call alone. */
struct wish {
    evzk_lock_mode mode;
    int priority; /* -1: none. */
    uint32_t ageing;
    bool revoke, no_requeue, try_once;
    uint32_t grace_ms, timeout_ms;
};

static struct wish wish_of(evzk_lock_mode mode, int priority)
{
    return (struct wish){.mode = mode, .priority = priority};
}

static struct wish writes(int priority)
{
    return wish_of(EVZK_LOCK_WRITE, priority);
}

static struct wish reads(int priority)
{
    return wish_of(EVZK_LOCK_READ, priority);
}

static void ask(struct claim *c, evzk_session *s, const char *dir,
                struct wish wish)
{
    const evzk_lock_priority urgent = {.priority = (uint8_t)wish.priority,
                                       .ageing = wish.ageing,
                                       .revoke = wish.revoke,
                                       .grace_ms = wish.grace_ms};
    const evzk_lock_options opt = {.mode = wish.mode,
                                   .priority =
                                       wish.priority < 0 ? NULL : &urgent,
                                   .revocable = true,
                                   .no_requeue = wish.no_requeue,
                                   .try_once = wish.try_once,
                                   .timeout_ms = wish.timeout_ms};

    claim(c, s, dir, &opt);
}

static bool in_priority_wait(const struct claim *c)
{
    return strcmp(evzk_lock_state(c->l), "PRIO_WATCHING") == 0 &&
           strstr(evzk_lock_node(c->l), "-wait-");
}

/* The lock waits by priority, and watches the lock that it waits for. */
static void ask_waits(struct claim *c, evzk_session *s, const char *dir,
                      struct wish wish)
{
    ask(c, s, dir, wish);
    WAIT(in_priority_wait(c));
}

static void ask_held(struct claim *c, evzk_session *s, const char *dir,
                     struct wish wish)
{
    ask(c, s, dir, wish);
    WAIT(evzk_lock_held(c->l));
}

static bool granted(const struct claim *c)
{
    return recorder_has(&c->rec, "GRANTED");
}

/* All that was asked is answered, and nobody asks any more. */
static void all_quiet(const struct peer *p, int n)
{
    uint64_t before, after = 0;
    evzk_session_stats st;

    ck_assert_int_eq(raw_sync(op(), "/"), ZOK);
    do {
        before = after;
        after = 0;
        run_for(harness_base(), 50);
        for (int i = 0; i < n; i++) {
            all_answered(p[i].s);
            evzk_session_get_stats(p[i].s, &st);
            after += st.requests - st.probes;
        }
    } while (after != before);
}

static void all_close(struct peer *p, int n, const char *dir)
{
    for (int i = 0; i < n; i++)
        idle(p[i].s);
    nothing_left(dir, p[0].s);
    for (int i = 0; i < n; i++)
        peer_close(&p[i]);
}

static int version_of(const char *dir, const struct claim *c)
{
    struct Stat stat;

    ck_assert_int_eq(
        raw_exists(op(), node_path(dir, evzk_lock_node(c->l)), &stat), ZOK);
    return stat.version;
}

/* ---- Rows: locks come and go, and what is true after each step ---- */

enum { LOCKS = 8, STEPS = 20, ROW_MS = 30000 };

enum session { A, B, C, D, E, F, G, ROW_SESSIONS };

/* A lock comes, or the one that holds goes; then this is true of all locks, a
 * letter for each in the order in which they come:
 *   H  holds, and heard of nothing else; its znode was not written to
 *   R  the same, and it was asked to let go, once
 *   -  waits, and heard nothing
 *   .  has gone */
struct step {
    enum { ROW_ENDS, COMES, GOES } what;
    int lock; /* GOES: counted from 0. */
    enum session session;
    struct wish wish;
    const char *then;
};

struct row {
    const char *name;
    struct step steps[STEPS];
};

/* The row that is played. */
static struct {
    const char *dir;
    struct peer p[ROW_SESSIONS];
    struct claim c[LOCKS];
    struct wish wish[LOCKS];
    bool gone[LOCKS], held[LOCKS];
    int n;
    uint64_t token; /* The greatest so far. */
} now;

static char letter_of(int i)
{
    const struct claim *c = &now.c[i];
    const char *story = now.gone[i] ? "" : recorder_story(&c->rec);

    if (now.gone[i])
        return '.';
    if (evzk_lock_held(c->l) && strcmp(story, "GRANTED") == 0)
        return 'H';
    if (evzk_lock_held(c->l) && strcmp(story, "GRANTED REVOKE_REQUESTED") == 0)
        return 'R';
    if (claim_waits(c) && c->rec.count == 0)
        return '-';
    return '?';
}

static const char *letters(void)
{
    static char all[LOCKS + 1];

    for (int i = 0; i < now.n; i++)
        all[i] = letter_of(i);
    all[now.n] = '\0';
    return all;
}

/* A waiter with a priority waits by priority; one that holds has a greater
 * token than all that wrote before. */
static void check_lock(int i, char letter)
{
    const struct claim *c = &now.c[i];
    bool reads_only = now.wish[i].mode == EVZK_LOCK_READ;

    if (letter == '-')
        ck_assert(in_priority_wait(c) == (now.wish[i].priority >= 0));
    if (letter != 'H' && letter != 'R')
        return;
    ck_assert_int_eq(version_of(now.dir, c), letter == 'R');
    if (!now.held[i] && !reads_only) {
        ck_assert_uint_gt(evzk_lock_token(c->l), now.token);
        now.token = evzk_lock_token(c->l);
    }
    now.held[i] = true;
}

static bool comes_true(void *step)
{
    return strcmp(letters(), ((const struct step *)step)->then) == 0;
}

static void take(const struct step *step)
{
    if (step->what == COMES) {
        now.wish[now.n] = step->wish;
        ask(&now.c[now.n++], now.p[step->session].s, now.dir, step->wish);
    } else {
        claim_release(&now.c[step->lock]);
        now.gone[step->lock] = true;
    }
    (void)run_until(harness_base(), comes_true, (void *)(uintptr_t)step,
                    ROW_MS);
    ck_assert_str_eq(letters(), step->then);
    all_quiet(now.p, ROW_SESSIONS);
    ck_assert_str_eq(letters(), step->then);
    for (int i = 0; i < now.n; i++)
        check_lock(i, step->then[i]);
}

#define COME(in, wish_, then_)                                                 \
    {                                                                          \
        .what = COMES, .session = (in), .wish = wish_, .then = (then_)         \
    }
#define GO(lock_, then_)                                                       \
    {                                                                          \
        .what = GOES, .lock = (lock_), .then = (then_)                         \
    }
#define WISH(m, p, ...)                                                        \
    {                                                                          \
        .mode = EVZK_LOCK_##m, .priority = (p), __VA_ARGS__                    \
    }
#define NONE -1 /* No priority. */

/* clang-format off */
static const struct row rows[] = {
    {"the most urgent first, in one session", {
        COME(A, WISH(WRITE, 9), "H"), COME(A, WISH(WRITE, 5), "H-"),
        COME(A, WISH(WRITE, 3), "H--"), COME(A, WISH(WRITE, 3), "H---"),
        COME(A, WISH(WRITE, 255), "H----"), COME(A, WISH(WRITE, 0), "H-----"),
        COME(A, WISH(WRITE, 5), "H------"), COME(A, WISH(WRITE, 4), "H-------"),
        GO(0, ".----H--"), GO(5, ".-H--.--"), GO(2, ".-.H-.--"),
        GO(3, ".-..-.-H"), GO(7, ".H..-.-."), GO(1, "....-.H."),
        GO(6, "....H..."), GO(4, "........")}},
    {"the most urgent first, each in a session of its own", {
        COME(A, WISH(WRITE, 9), "H"), COME(A, WISH(WRITE, 5), "H-"),
        COME(B, WISH(WRITE, 3), "H--"), COME(C, WISH(WRITE, 3), "H---"),
        COME(D, WISH(WRITE, 255), "H----"), COME(E, WISH(WRITE, 0), "H-----"),
        COME(F, WISH(WRITE, 5), "H------"), COME(G, WISH(WRITE, 4), "H-------"),
        GO(0, ".----H--"), GO(5, ".-H--.--"), GO(2, ".-.H-.--"),
        GO(3, ".-..-.-H"), GO(7, ".H..-.-."), GO(1, "....-.H."),
        GO(6, "....H..."), GO(4, "........")}},
    {"a more urgent lock does not pass the holder, but goes next", {
        COME(A, WISH(WRITE, 200), "H"), COME(A, WISH(WRITE, 1), "H-"),
        COME(B, WISH(WRITE, 0), "H--"),
        GO(0, ".-H"), GO(2, ".H."), GO(1, "...")}},
    {"readers hold together, up to a writer that is more urgent", {
        COME(A, WISH(WRITE, 0), "H"), COME(A, WISH(READ, 5), "H-"),
        COME(B, WISH(WRITE, 4), "H--"), COME(A, WISH(READ, 1), "H---"),
        COME(B, WISH(READ, 3), "H----"), COME(A, WISH(WRITE, 6), "H-----"),
        COME(B, WISH(READ, 9), "H------"), COME(A, WISH(READ, 6), "H-------"),
        GO(0, ".--HH---"), GO(3, ".--.H---"), GO(4, ".-H..---"),
        GO(2, ".H...---"), GO(1, ".....H--"), GO(5, "......HH"),
        GO(6, ".......H"), GO(7, "........")}},
    {"a reader joins those that read, not past a more urgent writer", {
        COME(A, WISH(READ, 9), "H"), COME(B, WISH(WRITE, 5), "H-"),
        COME(A, WISH(READ, 4), "H-H"), COME(B, WISH(READ, 6), "H-H-"),
        GO(0, ".-H-"), GO(2, ".H.-"), GO(1, "...H"), GO(3, "....")}},

    {"a less urgent writer is asked to let go", {
        COME(A, WISH(WRITE, 9), "H"),
        COME(B, WISH(WRITE, 2, .revoke = true), "R-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a less urgent reader is asked to let go", {
        COME(A, WISH(READ, 9), "H"),
        COME(B, WISH(WRITE, 2, .revoke = true), "R-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a holder that is as urgent is not asked", {
        COME(A, WISH(WRITE, 9), "H"),
        COME(B, WISH(WRITE, 9, .revoke = true, .grace_ms = 1), "H-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a holder that is more urgent is not asked", {
        COME(A, WISH(WRITE, 9), "H"),
        COME(B, WISH(WRITE, 10, .revoke = true, .grace_ms = 1), "H-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a holder that is much more urgent is not asked", {
        COME(A, WISH(WRITE, 9), "H"),
        COME(B, WISH(WRITE, 255, .revoke = true, .grace_ms = 1), "H-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a holder without a priority is not asked", {
        COME(A, WISH(WRITE, NONE), "H"),
        COME(B, WISH(WRITE, 2, .revoke = true, .grace_ms = 1), "H-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a lock that does not revoke asks no holder", {
        COME(A, WISH(WRITE, 9), "H"),
        COME(B, WISH(WRITE, 2, .grace_ms = 1), "H-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a lock of the least urgency asks no holder", {
        COME(A, WISH(WRITE, 255), "H"),
        COME(B, WISH(WRITE, 255, .revoke = true, .grace_ms = 1), "H-"),
        GO(0, ".H"), GO(1, "..")}},
    {"a reader asks no reader; a writer the first, which is less urgent", {
        COME(A, WISH(READ, 9), "H"), COME(A, WISH(READ, 2), "HH"),
        COME(B, WISH(READ, 2, .revoke = true), "HHH"), GO(2, "HH."),
        COME(B, WISH(WRITE, 2, .revoke = true), "RH.-"),
        GO(0, ".H.-"), GO(1, "...H"), GO(3, "....")}},
    {"a reader asks no reader; a writer the second, which is less urgent", {
        COME(A, WISH(READ, 2), "H"), COME(A, WISH(READ, 9), "HH"),
        COME(B, WISH(READ, 2, .revoke = true), "HHH"), GO(2, "HH."),
        COME(B, WISH(WRITE, 2, .revoke = true), "HR.-"),
        GO(1, "H..-"), GO(0, "...H"), GO(3, "....")}},
    {"a lock that is not the first in the priority wait asks, too", {
        COME(A, WISH(WRITE, 9), "H"), COME(A, WISH(WRITE, 1), "H-"),
        COME(B, WISH(WRITE, 2, .revoke = true), "R--"),
        GO(0, ".H-"), GO(1, "..H"), GO(2, "...")}},
    {"many revoke, and the holder is asked once", {
        COME(A, WISH(WRITE, 9), "H"),
        COME(A, WISH(WRITE, 5, .revoke = true), "R-"),
        COME(B, WISH(WRITE, 4, .revoke = true), "R--"),
        COME(A, WISH(WRITE, 3, .revoke = true), "R---"),
        COME(B, WISH(WRITE, 2, .revoke = true), "R----"),
        COME(A, WISH(WRITE, 1, .revoke = true), "R-----"),
        GO(0, ".----H"), GO(5, ".---H."), GO(4, ".--H.."), GO(3, ".-H..."),
        GO(2, ".H...."), GO(1, "......")}},

    {"an exclusive lock passes the priority wait, and keeps it out", {
        COME(A, WISH(WRITE, 9), "H"), COME(B, WISH(WRITE, 0), "H-"),
        COME(A, WISH(EXCLUSIVE, NONE), "H--"), GO(0, ".-H"), GO(2, ".H."),
        COME(A, WISH(EXCLUSIVE, NONE), ".H.-"), GO(1, "...H"), GO(3, "....")}},
    {"a writer without a priority passes the priority wait", {
        COME(A, WISH(WRITE, 9), "H"), COME(B, WISH(WRITE, 0), "H-"),
        COME(A, WISH(WRITE, NONE), "H--"), GO(0, ".-H"), GO(2, ".H."),
        COME(A, WISH(WRITE, NONE), ".H.-"), GO(1, "...H"), GO(3, "....")}},
    {"a reader without a priority passes the priority wait", {
        COME(A, WISH(WRITE, 9), "H"), COME(B, WISH(WRITE, 0), "H-"),
        COME(A, WISH(READ, NONE), "H--"), GO(0, ".-H"), GO(2, ".H."),
        COME(A, WISH(READ, NONE), ".H.-"), GO(1, "...H"), GO(3, "....")}},
    {"readers with and without a priority hold together", {
        COME(A, WISH(READ, NONE), "H"), COME(B, WISH(READ, 200), "HH"),
        COME(B, WISH(WRITE, 0), "HH-"),
        GO(0, ".H-"), GO(1, "..H"), GO(2, "...")}},
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0] };

START_TEST(a_row)
{
    const struct step *step = rows[_i].steps;

    printf("row %d: %s\n", _i, rows[_i].name);
    now.dir = numbered("/priority", _i);
    for (int i = 0; i < ROW_SESSIONS; i++)
        peer_open(&now.p[i], the_server());
    for (; step < rows[_i].steps + STEPS && step->what; step++)
        take(step);
    ck_assert_ptr_null(strpbrk(letters(), "HR-"));
    all_close(now.p, ROW_SESSIONS, now.dir);
}
END_TEST

/* ---- Ageing ---- */

static void let_go(struct member *m)
{
    ck_assert_int_eq(evzk_lock_release(m->l), EVZK_OK);
}

/* At most so many of those that come later pass it, and not fewer by more than
 * the one whose turn is the same. */
START_TEST(ageing_bounds_who_pass)
{
    enum { LATER = 20 };
    static const struct {
        uint32_t ageing;
        uint8_t own, others;
        int most;
    } cases[] = {{2, 3, 0, 6},
                 {2, 3, 2, 2},
                 {5, 3, 0, 15},
                 {1, 3, 3, 0},
                 {0, 3, 0, LATER}};
    const char *dir = "/priority-ageing";
    evzk_lock_priority urgent = {.ageing = cases[_i].ageing};
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .priority = &urgent};
    int most = cases[_i].most;
    struct claim held;
    struct crowd c;
    struct peer p[3];

    for (int i = 0; i < 3; i++)
        peer_open(&p[i], the_server());
    claim_held(&held, p[0].s, dir, NULL);
    crowd_new(&c, LATER + 1);
    c.on_grant = let_go;
    urgent.priority = cases[_i].own;
    crowd_start(&c, 0, p[0].s, dir, &opt);
    WAIT(raw_count(op(), dir) == 2);
    urgent.priority = cases[_i].others;
    for (int i = 1; i <= LATER; i++) {
        crowd_start(&c, i, p[i % 3].s, dir, &opt);
        WAIT(raw_count(op(), dir) == i + 2);
    }
    all_quiet(p, 3);
    ck_assert_int_eq(c.granted, 0);
    claim_release(&held);
    WAIT(c.finals == LATER + 1);
    crowd_check_served(&c);
    ck_assert_int_le(c.v[0].turn, most);
    ck_assert_int_ge(c.v[0].turn, most == LATER ? most : most - 1);
    for (int i = 2; i <= LATER; i++) /* Among each other by their arrival. */
        ck_assert(c.v[i - 1].turn < c.v[i].turn &&
                  c.v[i - 1].token < c.v[i].token);
    crowd_free(&c);
    all_close(p, 3, dir);
}
END_TEST

/* ---- No herd ---- */

/* What each session was woken by. */
struct woken {
    int deleted, changed;
};

static void count_woken(const evzk_trace *move, void *arg)
{
    struct woken *w = arg;

    w->deleted += strstr(move->event, "deleted") != NULL;
    w->changed += strstr(move->event, "changed") != NULL;
}

/* A crowd of sessions behind one proxy. */
struct herd {
    struct proxy *proxy;
    struct peer p[SESSIONS];
    struct claim c[SESSIONS];
    struct woken woken[SESSIONS];
    int64_t watches; /* Fired ones, on the wire. */
    int n;
};

static void herd_open(struct herd *h, int n)
{
    memset(h, 0, sizeof *h);
    h->n = n;
    h->proxy = proxy_start(the_server());
    for (int i = 0; i < n; i++) {
        const evzk_session_options opt = {.timeout_ms = OPERATOR_MS,
                                          .trace = count_woken,
                                          .trace_arg = &h->woken[i]};

        peer_start(&h->p[i], proxy_address(h->proxy), &opt);
    }
    for (int i = 0; i < n; i++)
        WAIT(evzk_session_connected(h->p[i].s));
}

static void herd_close(struct herd *h, const char *dir)
{
    all_close(h->p, h->n, dir);
    proxy_stop(h->proxy);
}

/* From here on it is counted. */
static void herd_count(struct herd *h)
{
    all_quiet(h->p, h->n);
    memset(h->woken, 0, sizeof h->woken);
    h->watches = proxy_frames_of(h->proxy, PROXY_S2C, PROXY_OP_WATCH);
}

static int64_t herd_watches(const struct herd *h)
{
    return proxy_frames_of(h->proxy, PROXY_S2C, PROXY_OP_WATCH) - h->watches;
}

/* How many were woken since, how often, and not of this session. */
static int herd_woken(const struct herd *h, int but)
{
    int n = 0;

    for (int i = 0; i < h->n; i++)
        n += i == but ? 0 : h->woken[i].deleted + h->woken[i].changed;
    return n;
}

/* Each that comes goes before all the others: it tells the one that was the
 * first, and nobody else. */
static void herd_gathers(struct herd *h, const char *dir)
{
    ask_held(&h->c[0], h->p[0].s, dir, writes(255));
    for (int i = 1; i < h->n; i++) {
        herd_count(h);
        ask_waits(&h->c[i], h->p[i].s, dir, writes(h->n - i));
        all_quiet(h->p, h->n);
        ck_assert_int_le(herd_woken(h, i), 1);
        ck_assert_int_le(herd_watches(h), 1);
        ck_assert_int_eq(h->woken[i].changed + h->woken[i].deleted, 0);
        for (int j = 0; j < i - 1; j++) /* Only its neighbour. */
            ck_assert_int_eq(h->woken[j].changed + h->woken[j].deleted, 0);
    }
}

/*
 * When one lets go it wakes one, which enters the queue, and so leaves the
 * priority wait: that wakes the one behind it, the first there from now on.  On
 * the wire are also the own watches of the two that went.
 */
START_TEST(one_release_wakes_one)
{
    static struct herd h;
    const char *dir = "/priority-herd";
    int holder = 0;

    herd_open(&h, SESSIONS);
    herd_gathers(&h, dir);
    for (int i = SESSIONS - 1; i > 0; i--) {
        herd_count(&h);
        claim_release(&h.c[holder]);
        WAIT(evzk_lock_held(h.c[i].l));
        all_quiet(h.p, h.n);
        ck_assert_int_eq(h.woken[i].deleted, 1);
        ck_assert_int_le(h.woken[i].changed, 0);
        ck_assert_int_eq(herd_woken(&h, i), i > 1);
        ck_assert_int_eq(h.woken[i - 1].deleted, i > 1);
        ck_assert_int_le(herd_watches(&h), 4);
        for (int j = 1; j < i; j++)
            ck_assert(!granted(&h.c[j]));
        holder = i;
    }
    claim_release(&h.c[holder]);
    herd_close(&h, dir);
}
END_TEST

/* A lock that leaves the priority wait wakes the one that waited for it. */
START_TEST(one_cancel_wakes_one)
{
    enum { N = 10 };
    static struct herd h;
    const char *dir = "/priority-herd-cancel";

    herd_open(&h, N);
    herd_gathers(&h, dir); /* 9 is the first, and 1 the last. */
    for (int i = 2; i < N; i++) {
        herd_count(&h);
        claim_cancel(&h.c[i]);
        all_quiet(h.p, h.n);
        ck_assert_int_eq(herd_woken(&h, i), 1);
        ck_assert_int_eq(h.woken[1].deleted, 1); /* Was right behind. */
        ck_assert_int_le(herd_watches(&h), 2);
    }
    claim_release(&h.c[0]);
    WAIT(evzk_lock_held(h.c[1].l));
    claim_release(&h.c[1]);
    herd_close(&h, dir);
}
END_TEST

/* All who read behind one that writes go on together; who writes behind them
 * does not. */
START_TEST(readers_wake_together)
{
    enum { READERS = 20, LAST = READERS + 2 };
    static struct herd h;
    const char *dir = "/priority-together";

    herd_open(&h, LAST + 1);
    ask_held(&h.c[0], h.p[0].s, dir, writes(9));
    ask_waits(&h.c[1], h.p[1].s, dir, writes(1));
    for (int i = 2; i < LAST; i++)
        ask_waits(&h.c[i], h.p[i].s, dir, reads(i));
    ask_waits(&h.c[LAST], h.p[LAST].s, dir, writes(100));
    claim_release(&h.c[0]);
    WAIT(evzk_lock_held(h.c[1].l));
    herd_count(&h);
    for (int i = 2; i <= LAST; i++)
        ck_assert(!granted(&h.c[i]));
    claim_release(&h.c[1]);
    for (int i = 2; i < LAST; i++)
        WAIT(evzk_lock_held(h.c[i].l));
    all_quiet(h.p, h.n);
    for (int i = 2; i < LAST; i++)
        ck_assert_int_eq(h.woken[i].deleted + h.woken[i].changed, 1);
    ck_assert(!granted(&h.c[LAST]));
    for (int i = 2; i < LAST; i++) {
        ck_assert(!granted(&h.c[LAST]));
        claim_release(&h.c[i]);
    }
    WAIT(evzk_lock_held(h.c[LAST].l));
    claim_release(&h.c[LAST]);
    herd_close(&h, dir);
}
END_TEST

/* A lock that is overtaken is told by a write to its znode: its data stays,
 * and is no request to let go, whatever it says. */
START_TEST(who_is_passed_hears_nothing)
{
    static const char *const said[] = {"somebody", "", "unlock"};
    const evzk_lock_priority late = {.priority = 9};
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .priority = &late,
                                   .data = said[_i],
                                   .data_len = strlen(said[_i])};
    const char *dir = "/priority-told";
    struct claim held, c, urgent;
    struct peer p[2];
    struct Stat stat;
    char data[32];
    int len = sizeof data;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    ask_held(&held, p[0].s, dir, writes(0));
    claim_queued(&c, p[0].s, dir, &opt);
    ask_waits(&urgent, p[1].s, dir, writes(1));
    all_quiet(p, 2);
    ck_assert_int_eq(
        raw_get(op(), node_path(dir, evzk_lock_node(c.l)), data, &len, &stat),
        ZOK);
    ck_assert_int_eq(len, (int)strlen(said[_i]));
    ck_assert_int_eq(memcmp(data, said[_i], (size_t)len), 0);
    /* That word is not written again: it finds out by itself. */
    ck_assert_int_eq(stat.version, strcmp(said[_i], "unlock") != 0);
    ck_assert_str_eq(c.rec.text, "");
    claim_release(&held);
    WAIT_EVENT(&urgent, "GRANTED");
    claim_release(&urgent);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_str_eq(c.rec.text, "GRANTED");
    claim_release(&c);
    all_close(p, 2, dir);
}
END_TEST

/* A waiter whose znode may not be written to is not told, and learns it when it
 * wakes. */
START_TEST(who_cannot_be_told_learns_it)
{
    enum { N = 4 };
    const evzk_acl acl = {EVZK_PERM_ALL & ~(unsigned)EVZK_PERM_WRITE, "world",
                          "anyone"};
    evzk_lock_priority urgent = {.priority = N};
    const evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                                   .priority = &urgent,
                                   .acl = &acl,
                                   .acl_count = 1};
    const char *dir = "/priority-untold";
    struct claim held, c[N];
    struct peer p[N];

    for (int i = 0; i < N; i++)
        peer_open(&p[i], the_server());
    claim_held(&held, p[0].s, dir, &opt);
    for (int i = 0; i < N; i++) {
        urgent.priority = (uint8_t)(N - 1 - i);
        claim_queued(&c[i], p[i].s, dir, &opt);
        all_quiet(p, N);
    }
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(version_of(dir, &c[i]), 0);
    claim_release(&held);
    for (int i = N - 1; i >= 0; i--) {
        WAIT_EVENT(&c[i], "GRANTED");
        all_quiet(p, N);
        for (int j = 0; j < i; j++)
            ck_assert(!granted(&c[j]));
        claim_release(&c[i]);
    }
    all_close(p, N, dir);
}
END_TEST

/* ---- Leaving the priority wait ---- */

/* How one leaves it, the first or one behind it. */
enum way { CANCEL, FREE, TIMEOUT, DELETED, EXPIRED, WAYS };

static const char *const way_story[WAYS] = {[CANCEL] = "FAILED(CANCELED)",
                                            [FREE] = "",
                                            [TIMEOUT] = "FAILED(TIMEOUT)",
                                            [DELETED] = "FAILED(NODEGONE)",
                                            [EXPIRED] = "FAILED(EXPIRED)"};

static void leave(struct claim *c, struct peer *p, const char *dir,
                  enum way way)
{
    switch (way) {
    case CANCEL:
        ck_assert_int_eq(evzk_lock_cancel(c->l), EVZK_OK);
        break;
    case FREE:
        evzk_lock_free(c->l);
        break;
    case DELETED:
        ck_assert_int_eq(raw_delete(op(), node_path(dir, evzk_lock_node(c->l))),
                         ZOK);
        break;
    case EXPIRED:
        raw_expire(the_server(), evzk_session_id(p->s));
        break;
    case TIMEOUT:
    case WAYS:
        break;
    }
}

START_TEST(leaving_the_priority_wait)
{
    enum way way = (enum way)(_i / 2);
    bool first = _i % 2;
    const char *dir = "/priority-leave";
    struct claim held, c, next;
    struct peer p[2];

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    ask_held(&held, p[0].s, dir, writes(0));
    ask(&c, p[1].s, dir,
        (struct wish){.mode = EVZK_LOCK_WRITE,
                      .priority = first ? 2 : 7,
                      .no_requeue = true,
                      .timeout_ms = way == TIMEOUT ? 4000 : 0});
    WAIT(in_priority_wait(&c) || c.rec.finals);
    ask_waits(&next, p[0].s, dir, writes(5));
    all_quiet(p, 1);
    leave(&c, &p[1], dir, way);
    WAIT(way == FREE || c.rec.finals == 1);
    WAIT(raw_count(op(), dir) == 2);
    ck_assert_str_eq(c.rec.text, way_story[way]);
    if (way != FREE)
        evzk_lock_free(c.l);
    claim_release(&held);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    WAIT(evzk_session_connected(p[1].s));
    all_close(p, 2, dir);
}
END_TEST

START_TEST(look_once)
{
    const char *dir = "/priority-try";
    const struct wish tries = {
        .mode = EVZK_LOCK_WRITE, .priority = 0, .try_once = true};
    const struct wish tries_to_read = {
        .mode = EVZK_LOCK_READ, .priority = 3, .try_once = true};
    struct claim held, c, reader;
    struct peer p;

    peer_open(&p, the_server());
    ask_held(&c, p.s, dir, tries);
    claim_release(&c);
    ask_held(&held, p.s, dir, reads(9));
    ask(&c, p.s, dir, tries);
    WAIT(c.rec.finals == 1);
    ck_assert_str_eq(c.rec.text, "FAILED(BUSY)");
    evzk_lock_free(c.l);
    ask_held(&reader, p.s, dir, tries_to_read); /* Holds with the other. */
    claim_release(&reader);
    ask_waits(&c, p.s, dir, writes(2));
    ask(&reader, p.s, dir,
        tries_to_read); /* Not past one that is more urgent. */
    WAIT(reader.rec.finals == 1);
    ck_assert_str_eq(reader.rec.text, "FAILED(BUSY)");
    evzk_lock_free(reader.l);
    claim_cancel(&c);
    claim_release(&held);
    all_close(&p, 1, dir);
}
END_TEST

/* The session ends, or the znode is deleted by another: at the end again, and
 * granted in its turn. */
START_TEST(queues_again)
{
    bool expires = _i % 2, first = _i / 2;
    const char *dir = "/priority-requeue";
    struct claim held, c, other;
    struct peer p[2];
    char node[128];

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    ask_held(&held, p[0].s, dir, writes(0));
    ask_waits(&c, p[1].s, dir, writes(3));
    ask_waits(&other, p[0].s, dir, writes(first ? 4 : 3));
    snprintf(node, sizeof node, "%s", evzk_lock_node(c.l));
    leave(&c, &p[1], dir, expires ? EXPIRED : DELETED);
    WAIT_EVENT(&c, expires ? "REQUEUED(EXPIRED)" : "REQUEUED(NODEGONE)");
    WAIT(in_priority_wait(&c));
    ck_assert_str_ne(evzk_lock_node(c.l), node);
    ck_assert_int_eq(raw_count(op(), dir), 3);
    all_quiet(p, 2);
    claim_release(&held);
    if (first) {
        WAIT_EVENT(&c, "GRANTED"); /* The more urgent one. */
        ck_assert(!granted(&other));
        claim_release(&c);
        WAIT_EVENT(&other, "GRANTED");
        claim_release(&other);
    } else {
        WAIT_EVENT(&other, "GRANTED");
        ck_assert(!granted(&c));
        claim_release(&other);
        WAIT_EVENT(&c, "GRANTED");
        claim_release(&c);
    }
    all_close(p, 2, dir);
}
END_TEST

/* ---- Entering, when it is not known whether it was done ---- */

/* Exactly one znode is in the directory, and it is in the queue. */
static void check_only(const char *dir, const struct claim *c)
{
    struct raw_names names;

    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    ck_assert_uint_eq(names.n, 1);
    ck_assert_str_eq(names.name[0], evzk_lock_node(c->l));
    ck_assert_ptr_null(strstr(names.name[0], "-wait-"));
    raw_names_free(&names);
}

START_TEST(entering_is_cut)
{
    const struct proxy_cut *cut = &proxy_cuts[_i % PROXY_CUTS];
    evzk_lock_mode mode = _i < PROXY_CUTS ? EVZK_LOCK_WRITE : EVZK_LOCK_READ;
    const char *dir = "/priority-enter";
    struct claim held, c;
    struct Stat stat;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    ask_held(&held, sc.rival.s, dir, writes(9));
    ask_waits(&c, sc.p.s, dir, wish_of(mode, 3));
    all_answered(sc.p.s);
    proxy_trap(sc.proxy, cut->dir, OP_MULTI, 1, cut->act);
    ck_assert_int_eq(evzk_lock_release(held.l), EVZK_OK);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_int_eq(proxy_fired(sc.proxy), 1);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&c.rec), "GRANTED");
    check_only(dir, &c);
    ck_assert_int_eq(
        raw_exists(op(), node_path(dir, evzk_lock_node(c.l)), &stat), ZOK);
    ck_assert_uint_eq(evzk_lock_token(c.l), (uint64_t)stat.czxid);
    ck_assert_uint_gt(evzk_lock_token(c.l), evzk_lock_token(held.l));
    evzk_lock_free(held.l);
    claim_release(&c);
    scene_close(&sc, dir);
}
END_TEST

/* The znode is not known, since the request, or the answer, was lost; and it
 * wants no more of it. */
START_TEST(leaving_while_unknown)
{
    const struct proxy_cut *cut = &proxy_cuts[_i / 3];
    enum way way = (enum way[]){CANCEL, FREE, EXPIRED}[_i % 3];
    const char *dir = "/priority-unknown";
    struct claim held, c, next;
    struct scene sc;

    scene_open(&sc, SESSION_MS);
    ask_held(&held, sc.rival.s, dir, writes(9));
    ask_waits(&c, sc.p.s, dir, writes(3));
    all_answered(sc.p.s);
    proxy_trap(sc.proxy, cut->dir, OP_MULTI, 1, cut->act);
    proxy_refuse(sc.proxy, true);
    claim_release(&held);
    WAIT(proxy_fired(sc.proxy) == 1);
    WAIT(strcmp(evzk_lock_state(c.l), "RESOLVING_ENTRY") == 0);
    ck_assert_str_eq(evzk_lock_node(c.l), "");
    leave(&c, &sc.p, dir, way);
    run_for(harness_base(), 100);
    ck_assert_int_eq(c.rec.count, 0); /* Not proved gone; or not heard. */
    proxy_refuse(sc.proxy, false);
    if (way == CANCEL) {
        WAIT(c.rec.finals == 1);
        ck_assert_str_eq(c.rec.text, "FAILED(CANCELED)");
        evzk_lock_free(c.l);
    } else if (way == EXPIRED) {
        WAIT_EVENT(&c, "GRANTED");
        check_only(dir, &c);
        claim_release(&c);
    }
    ask_held(&next, sc.rival.s, dir, writes(9));
    claim_release(&next);
    scene_close(&sc, dir);
}
END_TEST

/* ---- Asking those less urgent to let go ---- */

static const struct wish presses = {
    .mode = EVZK_LOCK_WRITE, .priority = 2, .revoke = true};

/* Not before the grace time, and with one request. */
START_TEST(the_less_urgent_is_removed)
{
    const char *dir = "/priority-remove";
    struct wish wish = presses;
    struct claim held, c;
    struct peer p[2];
    int64_t start;

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    ask_held(&held, p[0].s, dir, writes(9));
    wish.grace_ms = GRACE_MS;
    start = now_ms();
    ask(&c, p[1].s, dir, wish);
    WAIT_EVENT(&c, "GRANTED");
    ck_assert_int_ge(c.rec.when - start, GRACE_MS);
    WAIT(held.rec.finals == 1);
    ck_assert_str_eq(recorder_story(&held.rec),
                     "GRANTED REVOKE_REQUESTED LOST(NODEGONE)");
    ck_assert_uint_gt(evzk_lock_token(c.l), evzk_lock_token(held.l));
    evzk_lock_free(held.l);
    claim_release(&c);
    all_close(p, 2, dir);
}
END_TEST

/* A lock that is given up removes no other. */
START_TEST(who_leaves_removes_nobody)
{
    static const enum way ways[] = {CANCEL, FREE, TIMEOUT};
    const char *dir = "/priority-calm";
    struct wish wish = presses;
    struct claim held, c;
    struct peer p[2];

    peer_open(&p[0], the_server());
    peer_open(&p[1], the_server());
    ask_held(&held, p[0].s, dir, writes(9));
    wish.grace_ms = 2 * GRACE_MS;
    wish.timeout_ms = ways[_i] == TIMEOUT ? GRACE_MS : 0;
    ask(&c, p[1].s, dir, wish);
    WAIT_EVENT(&held, "REVOKE_REQUESTED");
    leave(&c, &p[1], dir, ways[_i]);
    WAIT(ways[_i] == FREE || c.rec.finals == 1);
    idle(p[1].s);
    run_for(harness_base(), 3 * GRACE_MS); /* For what must not happen. */
    ck_assert(evzk_lock_held(held.l));
    ck_assert_str_eq(recorder_story(&held.rec), "GRANTED REVOKE_REQUESTED");
    ck_assert_int_eq(raw_count(op(), dir), 1);
    if (ways[_i] != FREE)
        evzk_lock_free(c.l);
    claim_release(&held);
    all_close(p, 2, dir);
}
END_TEST

/* ---- Looking up, and what is refused ---- */

struct seen {
    int count;
    size_t n;
    evzk_contender v[8];
    char node[8][128];
};

static void on_seen(evzk_lock_query *q, int rc, const evzk_contender *v,
                    size_t n, void *arg)
{
    struct seen *s = arg;

    (void)q;
    ck_assert_int_eq(rc, EVZK_OK);
    ck_assert_uint_le(n, 8);
    s->count++;
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        s->v[i] = v[i];
        snprintf(s->node[i], sizeof s->node[i], "%s", v[i].node);
    }
}

START_TEST(looking_up)
{
    enum { N = 6 };
    const struct wish wish[N] = {reads(7),   reads(-1), writes(5),
                                 reads(255), writes(1), reads(1)};
    static const int order[N] = {0, 1, 4, 5, 2, 3};
    const char *dir = "/priority-look";
    struct seen seen = {0};
    evzk_lock_query *q;
    struct claim c[N];
    struct peer p;

    peer_open(&p, the_server());
    for (int i = 0; i < N; i++) {
        ask(&c[i], p.s, dir, wish[i]);
        WAIT(i < 2 ? evzk_lock_held(c[i].l) : in_priority_wait(&c[i]));
    }
    ck_assert_int_eq(evzk_lock_query_start(p.s, dir, on_seen, &seen, &q),
                     EVZK_OK);
    WAIT(seen.count == 1);
    ck_assert_uint_eq(seen.n, N);
    for (int i = 0; i < N; i++) {
        const struct claim *of = &c[order[i]];
        const struct wish *w = &wish[order[i]];

        ck_assert_str_eq(seen.node[i], evzk_lock_node(of->l));
        ck_assert_int_eq(seen.v[i].mode, w->mode);
        ck_assert_int_eq(seen.v[i].priority, w->priority < 0 ? 0 : w->priority);
        ck_assert(seen.v[i].holder == (i < 2));
        ck_assert_uint_eq(seen.v[i].token, evzk_lock_token(of->l));
        ck_assert(!seen.v[i].token == (i >= 2));
        ck_assert(seen.v[i].session == evzk_session_id(p.s));
        ck_assert(!seen.v[i].hidden);
    }
    evzk_lock_query_free(q);
    for (int i = 0; i < N; i++)
        evzk_lock_free(c[i].l);
    all_close(&p, 1, dir);
}
END_TEST

/* Nobody has entered yet: nobody holds it. */
START_TEST(looking_up_the_priority_wait_alone)
{
    const char *dir = "/priority-look-alone",
               *node = "/priority-look-alone/x-p5a0-write-wait-0000000003";
    struct seen seen = {0};
    evzk_lock_query *q;
    struct peer p;

    raw_mkdirs(op(), dir);
    ck_assert_int_eq(raw_create(op(), node, "", 0, 0, NULL, 0), ZOK);
    peer_open(&p, the_server());
    ck_assert_int_eq(evzk_lock_query_start(p.s, dir, on_seen, &seen, &q),
                     EVZK_OK);
    WAIT(seen.count == 1);
    ck_assert_uint_eq(seen.n, 1);
    ck_assert_uint_eq(seen.v[0].priority, 5);
    ck_assert_uint_eq(seen.v[0].token, 0);
    ck_assert(!seen.v[0].holder);
    evzk_lock_query_free(q);
    idle(p.s);
    peer_close(&p);
    raw_delete_tree(op(), dir);
}
END_TEST

START_TEST(refused)
{
    const evzk_lock_priority urgent = {.priority = 1};
    const evzk_lock_options bad[] = {
        {.priority = &urgent},
        {.mode = EVZK_LOCK_EXCLUSIVE, .priority = &urgent},
        {.mode = EVZK_LOCK_WRITE, .priority = &urgent, .no_own_watch = true},
        {.mode = EVZK_LOCK_READ, .priority = &urgent, .no_own_watch = true}};
    evzk_lock *l = NULL;
    struct recorder rec = {.count = 0};
    struct peer p;

    peer_open(&p, the_server());
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(evzk_lock_acquire(p.s, "/priority-bad", &bad[i],
                                           recorder_on_lock, &rec, &l),
                         EVZK_ERR_INVAL);
        ck_assert_ptr_null(l);
    }
    idle(p.s);
    ck_assert_int_eq(rec.count, 0);
    ck_assert_int_eq(raw_exists(op(), "/priority-bad", NULL), ZNONODE);
    peer_close(&p);
}
END_TEST

/* ---- All at once ---- */

enum { ROUNDS = 240, PLAYERS = 6 };

/* The rules for all holders at one moment. */
struct play {
    struct peer p[PLAYERS];
    struct proxy *proxy;
    struct {
        evzk_lock *l;
        struct play *play;
        evzk_lock_mode mode;
        bool held, done, leaves;
    } v[ROUNDS];
    int readers, writers, done, granted;
    uint64_t token, state;
};

static uint32_t upto(struct play *t, uint32_t most)
{
    t->state = t->state * UINT64_C(6364136223846793005) +
               UINT64_C(1442695040888963407);
    return (uint32_t)(t->state >> 33) % (most + 1);
}

static void in_play(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct play *t = *(struct play **)arg;
    int i = (int)((char *)arg - (char *)&t->v[0].play) / (int)sizeof t->v[0];

    (void)rc;
    if (event == EVZK_LOCK_GRANTED) {
        t->granted++;
        t->v[i].held = true;
        *(t->v[i].mode == EVZK_LOCK_READ ? &t->readers : &t->writers) += 1;
        ck_assert(t->writers == 0 || (t->writers == 1 && t->readers == 0));
        if (t->v[i].mode != EVZK_LOCK_READ) {
            ck_assert_uint_gt(evzk_lock_token(l), t->token);
            t->token = evzk_lock_token(l);
        }
    } else if (event >= EVZK_LOCK_RELEASED) {
        ck_assert(!t->v[i].done);
        t->v[i].done = true;
        t->done++;
    }
}

static void play_start(struct play *t, int i)
{
    const evzk_lock_priority urgent = {.priority = (uint8_t)upto(t, 4),
                                       .ageing = 3};
    const evzk_lock_options opt = {.mode = upto(t, 2) ? EVZK_LOCK_READ
                                                      : EVZK_LOCK_WRITE,
                                   .priority = upto(t, 9) ? &urgent : NULL};

    t->v[i].play = t;
    t->v[i].mode = opt.mode;
    t->v[i].leaves = upto(t, 5) == 0;
    ck_assert_int_eq(evzk_lock_acquire(t->p[upto(t, PLAYERS - 1)].s,
                                       "/priority-play", &opt, in_play,
                                       &t->v[i].play, &t->v[i].l),
                     EVZK_OK);
}

/* Holders let go, and some waiters leave. */
static void play_turn(struct play *t, int begun)
{
    for (int i = 0; i < begun; i++) {
        if (t->v[i].done)
            continue;
        if (t->v[i].held && evzk_lock_release(t->v[i].l) == EVZK_OK)
            *(t->v[i].mode == EVZK_LOCK_READ ? &t->readers : &t->writers) -= 1;
        else if (t->v[i].leaves && upto(t, 40) == 0)
            (void)evzk_lock_cancel(t->v[i].l);
    }
}

/*
 * Many of all kinds come, hold, and leave, in several sessions, some of them
 * cut now and then: never do two hold what they may not hold together, and all
 * come to their end.
 */
START_TEST(many_of_all_kinds)
{
    static struct play t;
    const char *dir = "/priority-play", *seed = getenv("EVZK_SEED");

    memset(&t, 0, sizeof t);
    t.state =
        seed ? strtoull(seed, NULL, 0) : (uint64_t)now_ms() + (uint64_t)_i;
    printf("many_of_all_kinds: EVZK_SEED=%" PRIu64 "\n", t.state);
    t.proxy = proxy_start(the_server());
    for (int i = 0; i < PLAYERS; i++)
        peer_open(&t.p[i], i % 2 ? the_server() : proxy_address(t.proxy));
    for (int i = 0; i < ROUNDS; i++) {
        play_start(&t, i);
        if (upto(&t, 3) == 0)
            run_for(harness_base(), (int64_t)upto(&t, 6));
        play_turn(&t, i + 1);
        if (_i && upto(&t, 30) == 0)
            proxy_cut(t.proxy);
    }
    WAIT((play_turn(&t, ROUNDS), t.done == ROUNDS));
    for (int i = 0; i < ROUNDS; i++)
        evzk_lock_free(t.v[i].l);
    for (int i = 0; i < PLAYERS; i++)
        WAIT(evzk_session_connected(t.p[i].s));
    all_close(t.p, PLAYERS, dir);
    proxy_stop(t.proxy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-priority");
    TCase *tests = lock_tests(suite, "priority", 60000);

    tcase_add_loop_test(tests, a_row, 0, ROWS);
    tcase_add_loop_test(tests, ageing_bounds_who_pass, 0, 5);
    tcase_add_test(tests, one_release_wakes_one);
    tcase_add_test(tests, one_cancel_wakes_one);
    tcase_add_test(tests, readers_wake_together);
    tcase_add_loop_test(tests, who_is_passed_hears_nothing, 0, 3);
    tcase_add_test(tests, who_cannot_be_told_learns_it);
    tcase_add_loop_test(tests, leaving_the_priority_wait, 0, 2 * WAYS);
    tcase_add_test(tests, look_once);
    tcase_add_loop_test(tests, queues_again, 0, 4);
    tcase_add_loop_test(tests, entering_is_cut, 0, 2 * PROXY_CUTS);
    tcase_add_loop_test(tests, leaving_while_unknown, 0, 9);
    tcase_add_test(tests, the_less_urgent_is_removed);
    tcase_add_loop_test(tests, who_leaves_removes_nobody, 0, 3);
    tcase_add_test(tests, looking_up);
    tcase_add_test(tests, looking_up_the_priority_wait_alone);
    tcase_add_test(tests, refused);
    tcase_add_loop_test(tests, many_of_all_kinds, 0, 2);
    return lock_suite_run(suite);
}
