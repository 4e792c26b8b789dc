/* Tests of the public functions without a server: bad arguments, no memory, the
 * life of an object that never gets what it waits for, and fork.
 *
 * args_kit.c      an event loop with a session that never connects; callbacks
 *                 that count; memory that fails; the log
 * args_every.c    what is tried with every kind of object
 * args_fork.c     the same in a child process, and in every state of an object
 * args_session.c  the session itself
 * args_lock.c     a recipe's rows, and what is true of it alone; so the others
 *
 * A recipe describes its objects in a struct args_kind: then all that is in
 * args_every.c and args_fork.c is tried with them. */
#ifndef EVZK_ARGS_H
#define EVZK_ARGS_H

#include "unit.h"

#include <event2/event.h>

#include "evzk/evzk.h"
#include "recipes/list.h"

struct args_kind;

/* What the callbacks of one object, or of a session, heard. */
struct heard {
    int events, event, rc;
    bool free_it;        /* The callback frees the object. */
    evzk_session *close; /* The callback frees this session. */
    struct world *w;     /* Counts the end of the object; may be NULL. */
    const struct args_kind *kind;
};

struct world {
    struct event_base *base;
    evzk_session *s;
    struct heard session;
    int ended; /* Objects that told their end. */
};

/* How an object is asked for; each member may be what is wrong. */
struct args_start {
    evzk_session *s;
    const char *path;
    const void *options;
    bool mute;  /* The callback is NULL. */
    void *arg;  /* A struct heard. */
    void **out; /* NULL: no place for the object. */
};

/* Options, and what the function says of them. */
struct args_row {
    const char *what; /* The value that is bad; or that is good. */
    const void *options;
    int expected;
};

/* A call on an object that never got what it waits for.  EVZK_ERR_INVAL: its
 * arguments are bad, so that it is refused in every state of the object.  All
 * others are refused in a child process as EVZK_ERR_FORKED. */
struct args_call {
    const char *function;
    int (*call)(void *object);
    int expected;
};

/* A kind of object: how it begins, ends, and what it refuses. */
struct args_kind {
    const char *start; /* The function that starts one. */
    int (*begin)(const struct args_start *a);
    const void *least, *most; /* Options: as few as can be, and all. */
    const struct args_row *rows;
    size_t n_rows;
    const struct args_call *calls;
    size_t n_calls;
    /* Options with this list, and with this time-out; NULL: it has none. */
    const void *(*with_acl)(const evzk_acl *acl, size_t n);
    const void *(*with_timeout)(uint32_t ms);
    /* Asks for the end; NULL: there is only free.  Then it tells an event and a
     * result; the session's end tells others. */
    const char *stop_function;
    int (*stop)(void *object);
    int stopped_event, stopped_rc, failed_event;
    void (*free)(void *object);
    void (*has_nothing)(void *object); /* Asserts what the others answer. */
    void (*null)(void);                /* The same, of NULL. */
    bool deaf;         /* When it has ended, the log hears nothing of it. */
    bool close_wins;   /* Stopped and closed at once, it tells of the close. */
    bool ends_in_loop; /* What a call began and gave up is freed later. */
};

/* What a recipe has: its kinds, and tests of its own. */
struct args_recipe {
    const struct args_kind *const *kinds; /* NULL at the end. */
    void (*add_tests)(Suite *suite);      /* Calls args_add(); may be NULL. */
};

#define ARGS_DECLARE(name) extern const struct args_recipe args_##name;
EVZK__ARGS(ARGS_DECLARE)
#undef ARGS_DECLARE

/* A function for begin(): `to` is where the object goes to, `on` its callback.
 */
#define ARGS_BEGIN(name, type, callback, expr)                                 \
    static int name(const struct args_start *a)                                \
    {                                                                          \
        type *out = a->out ? *a->out : NULL, **to = a->out ? &out : NULL;      \
        type##_cb *on = a->mute ? NULL : (callback);                           \
        int rc = (expr);                                                       \
                                                                               \
        if (a->out)                                                            \
            *a->out = out;                                                     \
        return rc;                                                             \
    }

/* A function for a row of calls: `o` is the object. */
#define ARGS_CALL(name, type, expr)                                            \
    static int name(void *object)                                              \
    {                                                                          \
        type *o = object;                                                      \
                                                                               \
        return expr;                                                           \
    }

#define ARGS_FREE(name, type, function)                                        \
    static void name(void *object)                                             \
    {                                                                          \
        type *o = object;                                                      \
                                                                               \
        function(o);                                                           \
    }

/* Functions for with_acl and with_timeout: options of this type. */
#define ARGS_WITH_ACL(name, type)                                              \
    static const void *name(const evzk_acl *acl, size_t n)                     \
    {                                                                          \
        static type opt;                                                       \
                                                                               \
        opt.acl = acl;                                                         \
        opt.acl_count = n;                                                     \
        return &opt;                                                           \
    }

#define ARGS_WITH_TIMEOUT(name, type)                                          \
    static const void *name(uint32_t ms)                                       \
    {                                                                          \
        static type opt;                                                       \
                                                                               \
        opt.timeout_ms = ms;                                                   \
        return &opt;                                                           \
    }

/* Rows of options that are bad wherever a recipe has them.  `BAD` is the
 * recipe's macro for a row; `most` is how long its data may be. */
#define ARGS_BAD_DATA(BAD, most)                                               \
    BAD("data: NULL, with a length", .data_len = 1),                           \
        BAD("data: too long", .data = "x", .data_len = (most) + 1),            \
        BAD("data: far too long", .data = "x", .data_len = SIZE_MAX)
#define ARGS_BAD_RESERVED(BAD)                                                 \
    BAD("reserved: the first", .reserved = {&args_mark}),                      \
        BAD("reserved: the last", .reserved = {NULL, NULL, NULL, &args_mark})
#define ARGS_BAD_DIALECT(BAD)                                                  \
    BAD("dialect: too high",                                                   \
        .dialect = (evzk_dialect)(EVZK_DIALECT_KAZOO + 1)),                    \
        BAD("dialect: below zero", .dialect = (evzk_dialect)-1)
#define ARGS_BAD_ACL(BAD) BAD("ACL: a length without a list", .acl_count = 1)

/* ---- args_kit.c ---- */

extern const char args_nobody[]; /* An address where nobody listens. */
extern char args_mark;           /* What bad arguments point to. */

/* Calls of the API, so that a callback can tell that it is not in one. */
extern int args_inside, args_answer;
#define CALL(expr)                                                             \
    (args_inside++, args_answer = (expr), args_inside--, args_answer)
#define DO(expr) (args_inside++, (expr), args_inside--)

/* Allocations.  Number `args_fail_at` fails, and with `args_fail_on` all after
 * it; `args_live` are the blocks that are not freed. */
extern long args_live, args_allocations, args_fail_at;
extern bool args_fail_on;
void args_no_memory(void); /* From now on. */
void args_use_allocator(bool with_realloc);

int64_t args_now_ms(void);
enum { ARGS_TICK_MS = 20 }; /* The loop's own clock is as coarse as that. */

/* The log: exactly one line for each call that is refused, "function: argument:
 * rule"; none when neither the session nor the options have a log. */
void args_refused(const char *call, bool logged);
void args_log_begin(void);
const char *args_last_line(void);
void args_on_log(evzk_log_level level, const char *line, void *arg);

#define INVAL_LOGGED(logged, expr)                                             \
    do {                                                                       \
        args_log_begin();                                                      \
        ck_assert_int_eq(CALL(expr), EVZK_ERR_INVAL);                          \
        args_refused(#expr, logged);                                           \
    } while (0)
#define INVAL(expr) INVAL_LOGGED(true, expr)
#define INVAL_SILENT(expr) INVAL_LOGGED(false, expr) /* Nothing has a log. */

void set_up(struct world *w);
void set_up_acl(struct world *w, const evzk_acl *acl, size_t n);
void set_up_at(struct world *w, const char *servers);
void tear_down(struct world *w); /* All that was allocated is free again. */
void run_out(struct world *w);   /* Until nothing is left to do. */
void run_ms(struct world *w, int64_t ms);
void run_until(struct world *w, const int *count, int least);

/* Every callback of an object ends here, with its last event. */
void args_heard(struct heard *h, void *object, int event, int rc);
void args_on_session(evzk_session *s, evzk_session_event event, int rc,
                     void *arg);
void expect(const struct heard *h, int event, int rc); /* Just this one. */

/* An object that waits; asserts that it began. */
void *args_begin(const struct args_kind *k, struct world *w,
                 const void *options, struct heard *h);

/* A call to begin one that fails: nothing is changed, and no memory kept. */
void args_begin_fails(const struct args_kind *k, const struct args_start *a,
                      const char *what, int rc);
void args_open_fails(struct event_base *base, const char *servers,
                     const evzk_session_options *opt, int rc);

/* ---- test_args.c ---- */

/* A test, run so many times: _i counts them. */
void args_add(Suite *suite, const TTest *test, int times);

/* The kinds of all recipes; NULL at the end. */
const struct args_kind *const *args_kinds(void);
int args_n_kinds(void);

/* Lists of ACLs that are refused; and the longest that is not. */
struct args_acl {
    const evzk_acl *acl;
    size_t n;
};
extern const struct args_acl args_bad_acls[];
extern const size_t args_n_bad_acls;
extern const evzk_acl args_many_acls[EVZK_ACL_MAX + 1], args_one_acl[1];

/* Fails the first allocation of a call, the second, ... until it succeeds, and
 * returns what it made. */
typedef int args_attempt(struct world *w, const struct args_kind *k,
                         void **out);
void *args_with_failures(struct world *w, const struct args_kind *k,
                         args_attempt *try_it, bool all_after);

/* ---- args_every.c ---- */

/* Every bad argument of the call that starts one, in a session in any state. */
void args_try_start(const struct args_kind *k, evzk_session *s);
/* Every row of calls; and those alone whose arguments are bad. */
void args_try_calls(const struct args_kind *k, void *object, bool logged);
void args_try_bad_calls(const struct args_kind *k, void *object, bool logged);

void args_add_every(Suite *suite);

/* ---- args_fork.c ---- */

void args_add_fork(Suite *suite);

/* ---- args_session.c ---- */

void args_try_session(struct world *w); /* Bad arguments of its own calls. */
void args_add_session(Suite *suite);

#endif
