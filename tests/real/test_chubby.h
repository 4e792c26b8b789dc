/*
 * What the tests of Chubby's interface share: handles and operations with a
 * record of what they said.  For tests/real/test_chubby*.c.
 */
#ifndef TESTS_REAL_TEST_CHUBBY_H
#define TESTS_REAL_TEST_CHUBBY_H

#include "test_lock.h"

/* A handle, and what it said: as in "OPENED CHILD_ADDED(x) INVALID(...)". */
struct file {
    evzk_chubby *h;
    char text[4096];
    int events[EVZK_CHUBBY_ENDED + 1];
    int rc; /* Of the last event. */
};

/* An operation, and how it ended. */
struct act {
    int told, rc;
    evzk_chubby_stat stat;
    bool unknown;
    char data[64];
    char names[256]; /* Of children: as in "a b(hidden) ". */
};

static inline void file_heard(evzk_chubby *h, evzk_chubby_event event, int rc,
                              const char *name, void *arg)
{
    struct file *f = arg;
    size_t n = strlen(f->text);

    ck_assert_ptr_eq(h, f->h);
    ck_assert_int_eq(f->events[EVZK_CHUBBY_CLOSED], 0);
    ck_assert_int_eq(f->events[EVZK_CHUBBY_ENDED], 0);
    f->events[event]++;
    f->rc = rc;
    snprintf(f->text + n, sizeof f->text - n, "%s%s", n ? " " : "",
             evzk_chubby_event_name(event));
    n = strlen(f->text);
    if (rc || name)
        snprintf(f->text + n, sizeof f->text - n, "(%s)",
                 name ? name : evzk_errname(rc));
}

static inline void act_heard(evzk_chubby *h, int rc,
                             const evzk_chubby_answer *a, void *arg)
{
    struct act *act = arg;

    ck_assert_ptr_nonnull(h);
    act->told++;
    act->rc = rc;
    act->stat = a->stat;
    act->unknown = a->unknown;
    act->data[0] = act->names[0] = '\0';
    if (a->data && a->stat.len < sizeof act->data) {
        memcpy(act->data, a->data, a->stat.len);
        act->data[a->stat.len] = '\0';
    }
    for (size_t i = 0; i < a->n && i < 16; i++) {
        size_t n = strlen(act->names);

        snprintf(act->names + n, sizeof act->names - n, "%s%s ",
                 a->children[i].name, a->children[i].hidden ? "(hidden)" : "");
    }
}

static inline void file_start(struct file *f, evzk_session *s, const char *path,
                              const evzk_chubby_options *opt)
{
    memset(f, 0, sizeof *f);
    ck_assert_int_eq(evzk_chubby_open(s, path, opt, file_heard, f, &f->h),
                     EVZK_OK);
}

#define WAIT_TOLD(f, event) WAIT((f)->events[EVZK_CHUBBY_##event] > 0)

static inline void file_open(struct file *f, evzk_session *s, const char *path,
                             const evzk_chubby_options *opt)
{
    file_start(f, s, path, opt);
    WAIT_TOLD(f, OPENED);
    ck_assert_int_eq(f->rc, EVZK_OK);
}

static inline void file_make(struct file *f, evzk_session *s, const char *path)
{
    const evzk_chubby_options opt = {
        .create = EVZK_CHUBBY_MUST_CREATE, .data = "new", .data_len = 3};

    file_open(f, s, path, &opt);
    ck_assert(evzk_chubby_created(f->h));
}

static inline void file_close(struct file *f)
{
    ck_assert_int_eq(evzk_chubby_close(f->h), EVZK_OK);
    ck_assert_int_eq(f->events[EVZK_CHUBBY_CLOSED], 0);
    WAIT_TOLD(f, CLOSED);
    ck_assert_int_eq(f->rc, EVZK_OK);
    ck_assert_uint_eq(evzk_chubby_outstanding(f->h), 0);
    evzk_chubby_free(f->h);
    f->h = NULL;
}

static inline void file_ended(struct file *f, int rc)
{
    WAIT_TOLD(f, ENDED);
    ck_assert_str_eq(evzk_errname(f->rc), evzk_errname(rc));
    evzk_chubby_free(f->h);
    f->h = NULL;
}

static inline void file_invalid(struct file *f, int rc)
{
    struct act a = {0};

    WAIT_TOLD(f, INVALID);
    ck_assert_str_eq(evzk_errname(f->rc), evzk_errname(rc));
    ck_assert_int_eq(evzk_chubby_get(f->h, false, act_heard, &a),
                     EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_chubby_set(f->h, -1, NULL, 0, act_heard, &a),
                     EVZK_ERR_STATE);
}

/* A macro, so that WAIT() names the line of the test. */
#define act_ends(a, expected)                                                  \
    do {                                                                       \
        WAIT((a)->told > 0);                                                   \
        ck_assert_int_eq((a)->told, 1);                                        \
        ck_assert_str_eq(evzk_errname((a)->rc), evzk_errname(expected));       \
    } while (0)

/* Begins an operation on a handle; and waits for its end. */
#define BEGIN_ACT(a, f, function, ...)                                         \
    do {                                                                       \
        memset(a, 0, sizeof *(a));                                             \
        ck_assert_int_eq(                                                      \
            evzk_chubby_##function((f)->h, __VA_ARGS__, act_heard, a),         \
            EVZK_OK);                                                          \
        ck_assert_int_eq((a)->told, 0);                                        \
    } while (0)
#define ACT(a, f, function, rc, ...)                                           \
    do {                                                                       \
        BEGIN_ACT(a, f, function, __VA_ARGS__);                                \
        act_ends(a, rc);                                                       \
    } while (0)

/* The same, of those that take no arguments. */
#define BEGIN_ACT_0(a, f, function)                                            \
    do {                                                                       \
        memset(a, 0, sizeof *(a));                                             \
        ck_assert_int_eq(evzk_chubby_##function((f)->h, act_heard, a),         \
                         EVZK_OK);                                             \
        ck_assert_int_eq((a)->told, 0);                                        \
    } while (0)
#define ACT_0(a, f, function, rc)                                              \
    do {                                                                       \
        BEGIN_ACT_0(a, f, function);                                           \
        act_ends(a, rc);                                                       \
    } while (0)

/* On an empty place. */
static inline void clear(void)
{
    raw_delete_tree(op(), "/chubby");
    raw_mkdirs(op(), "/chubby");
}

/* Nothing is left but the directory. */
static inline void all_gone(evzk_session *s)
{
    raw_wait_gone(op(), "/chubby/f", 60000);
    nothing_left("/chubby/f.evzk", s);
    raw_delete_tree(op(), "/chubby");
}

static inline void contents_are(const char *path, const char *text)
{
    char data[64];
    int len = sizeof data;

    ck_assert_int_eq(raw_get(op(), path, data, &len, NULL), ZOK);
    ck_assert_int_eq(len, (int)strlen(text));
    ck_assert_int_eq(memcmp(data, text, (size_t)len), 0);
}

#endif
