/* An event loop with a session, allocations that are counted and fail, a log in
 * which each refusal is one line; and objects that begin, or do not. */
#include "args.h"

#include <string.h>
#include <time.h>

const char args_nobody[] = "127.0.0.1:1";
char args_mark;
int args_inside, args_answer;

/* Allocation. */

long args_live, args_allocations, args_fail_at;
bool args_fail_on;

static void *counted_malloc(size_t n)
{
    bool fail = ++args_allocations == args_fail_at ||
                (args_fail_on && args_allocations > args_fail_at);
    void *p = fail ? NULL : malloc(n);

    args_live += p != NULL;
    return p;
}

static void *counted_realloc(void *p, size_t n)
{
    args_live += p == NULL;
    return realloc(p, n);
}

static void counted_free(void *p)
{
    args_live -= p != NULL;
    free(p);
}

void args_use_allocator(bool with_realloc)
{
    evzk_set_allocator(counted_malloc, with_realloc ? counted_realloc : NULL,
                       counted_free);
}

void args_no_memory(void)
{
    args_fail_at = args_allocations + 1;
    args_fail_on = true;
}

int64_t args_now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The log. */

static struct {
    int lines, checked; /* Of the present call; of all calls. */
    int all;
    char line[256];
} said;

void args_on_log(evzk_log_level level, const char *line, void *arg)
{
    (void)arg;
    if (strncmp(line, "evzk_", 5) != 0)
        return; /* About something else. */
    ck_assert_int_eq(level, EVZK_LOG_ERROR);
    said.lines++;
    said.all++;
    snprintf(said.line, sizeof said.line, "%s", line);
}

void args_log_begin(void) { said.lines = 0; }

const char *args_last_line(void) { return said.line; }

void args_refused(const char *call, bool logged)
{
    size_t n = strcspn(call, "(");
    const char *argument = said.line + n + 2, *rule;

    ck_assert_msg(said.lines == logged, "%s: %d lines", call, said.lines);
    said.checked += said.lines;
    said.lines = 0;
    if (!logged)
        return;
    ck_assert_msg(strncmp(said.line, call, n) == 0 &&
                      strncmp(said.line + n, ": ", 2) == 0,
                  "%s: %s", call, said.line);
    rule = strstr(argument, ": ");
    ck_assert_msg(rule && rule > argument && rule[2], "%s", said.line);
}

/* The session. */

void args_on_session(evzk_session *s, evzk_session_event event, int rc,
                     void *arg)
{
    struct heard *h = arg;

    ck_assert_int_eq(args_inside, 0);
    h->events++;
    h->event = (int)event;
    h->rc = rc;
    if (h->free_it)
        DO(evzk_session_free(s));
}

static void set_up_with(struct world *w, const char *servers,
                        const evzk_session_options *opt)
{
    memset(w, 0, sizeof *w);
    args_live = args_allocations = args_fail_at = args_inside = 0;
    args_fail_on = false;
    args_use_allocator(true);
    w->base = event_base_new();
    ck_assert_int_eq(
        CALL(evzk_session_open(w->base, servers, opt, args_on_session,
                               &w->session, &w->s)),
        EVZK_OK);
}

void set_up_at(struct world *w, const char *servers)
{
    const evzk_session_options opt = {.log = args_on_log,
                                      .log_level = EVZK_LOG_ERROR};

    set_up_with(w, servers, &opt);
}

void set_up(struct world *w) { set_up_at(w, args_nobody); }

void set_up_acl(struct world *w, const evzk_acl *acl, size_t n)
{
    const evzk_session_options opt = {.log = args_on_log,
                                      .log_level = EVZK_LOG_ERROR,
                                      .acl = acl,
                                      .acl_count = n};

    set_up_with(w, args_nobody, &opt);
}

void run_out(struct world *w)
{
    ck_assert_int_eq(event_base_dispatch(w->base), 1);
}

void tear_down(struct world *w)
{
    DO(evzk_session_free(w->s));
    run_out(w);
    event_base_free(w->base);
    evzk_set_allocator(NULL, NULL, NULL);
    ck_assert_int_eq(args_live, 0);
    ck_assert_int_eq(said.all, said.checked); /* Each refusal was looked at. */
}

void run_ms(struct world *w, int64_t ms)
{
    struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

    event_base_loopexit(w->base, &tv);
    event_base_dispatch(w->base);
}

void run_until(struct world *w, const int *count, int least)
{
    int64_t until = args_now_ms() + 30000;

    while (*count < least) {
        ck_assert_int_lt(args_now_ms(), until);
        event_base_loop(w->base, EVLOOP_ONCE);
    }
}

/* Objects. */

void args_heard(struct heard *h, void *object, int event, int rc)
{
    ck_assert_int_eq(args_inside, 0);
    ck_assert_ptr_nonnull(object);
    ck_assert_int_eq(h->events, 0); /* Without a server: one, and the last. */
    h->events++;
    h->event = event;
    h->rc = rc;
    if (h->w)
        h->w->ended++;
    if (h->close)
        DO(evzk_session_free(h->close));
    if (h->free_it)
        DO(h->kind->free(object));
}

void expect(const struct heard *h, int event, int rc)
{
    ck_assert_int_eq(h->events, 1);
    ck_assert_int_eq(h->event, event);
    ck_assert_int_eq(h->rc, rc);
}

void *args_begin(const struct args_kind *k, struct world *w,
                 const void *options, struct heard *h)
{
    void *object = NULL;
    struct args_start a = {.s = w->s,
                           .path = "/objects/a",
                           .options = options,
                           .arg = h,
                           .out = &object};

    h->w = w;
    h->kind = k;
    ck_assert_int_eq(CALL(k->begin(&a)), EVZK_OK);
    ck_assert_ptr_nonnull(object);
    ck_assert_int_eq(h->events, 0);
    return object;
}

void args_begin_fails(const struct args_kind *k, const struct args_start *a,
                      const char *what, int rc)
{
    void *before = &args_mark, *out = before;
    struct args_start call = *a;
    long blocks = args_live;
    int said_rc;

    if (call.out)
        call.out = &out;
    args_log_begin();
    said_rc = CALL(k->begin(&call));
    ck_assert_msg(said_rc == rc, "%s: %s: %s", k->start, what,
                  evzk_errname(said_rc));
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(args_live, blocks);
    if (rc == EVZK_ERR_INVAL)
        args_refused(k->start, a->s != NULL);
}

void args_open_fails(struct event_base *base, const char *servers,
                     const evzk_session_options *opt, int rc)
{
    evzk_session *before = (void *)&args_mark, *out = before;
    evzk_session_options o = {0};
    long blocks = args_live;

    if (opt)
        o = *opt;
    o.log = args_on_log;
    args_log_begin();
    ck_assert_int_eq(
        CALL(evzk_session_open(base, servers, &o, args_on_session, NULL, &out)),
        rc);
    ck_assert_ptr_eq(out, before);
    ck_assert_int_eq(args_live, blocks);
    if (rc == EVZK_ERR_INVAL)
        args_refused("evzk_session_open(", true);
}

void *args_with_failures(struct world *w, const struct args_kind *k,
                         args_attempt *try_it, bool all_after)
{
    bool in_loop = k && k->ends_in_loop;
    void *out = &args_mark;
    int rc = EVZK_ERR_NOMEM;

    for (long i = 1; rc != EVZK_OK; i++) {
        long before = args_live;

        ck_assert_int_lt(i, 100);
        args_allocations = 0;
        args_fail_at = i;
        args_fail_on = all_after;
        rc = try_it(w, k, &out);
        if (args_allocations < i)
            break;
        ck_assert_msg(rc == EVZK_ERR_NOMEM, "allocation %ld: %s", i,
                      evzk_errname(rc));
        ck_assert_ptr_eq(out, &args_mark);
        /* Meanwhile the session makes handles, and throws them away: there may
         * be less than before. */
        for (int n = 0; in_loop && args_live > before && n < 100; n++)
            run_ms(w, 20);
        if (in_loop)
            ck_assert_int_le(args_live, before);
        else
            ck_assert_int_eq(args_live, before);
    }
    args_fail_at = 0;
    args_fail_on = false;
    ck_assert_int_eq(rc, EVZK_OK);
    return out;
}

/* Lists of ACLs, for the session and for each kind that has one. */

/* clang-format off */
#define LIST(...) (const evzk_acl[]){__VA_ARGS__}

const evzk_acl args_one_acl[1] = {{EVZK_PERM_ALL, "digest", "user:hash"}};
const evzk_acl args_many_acls[EVZK_ACL_MAX + 1] = {
    [0 ... EVZK_ACL_MAX] = {EVZK_PERM_READ, "ip", "1.2.3.4"}};

const struct args_acl args_bad_acls[] = {
    {LIST({0, "world", "anyone"}), 1},
    {LIST({32, "world", "anyone"}), 1},
    {LIST({UINT32_MAX, "world", "anyone"}), 1},
    {LIST({EVZK_PERM_ALL, NULL, "anyone"}), 1},
    {LIST({EVZK_PERM_ALL, "", "anyone"}), 1},
    {LIST({EVZK_PERM_ALL, "world", NULL}), 1},
    {LIST({EVZK_PERM_ALL, "world", "anyone"}, {0, "auth", ""}), 2},
    {NULL, 1},
    {args_many_acls, EVZK_ACL_MAX + 1},
    {args_many_acls, SIZE_MAX},
};
/* clang-format on */
const size_t args_n_bad_acls = UNIT_COUNT(args_bad_acls);
