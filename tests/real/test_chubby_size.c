/*
 * How much memory of the process a handle takes, its copy, its watch in the
 * client and all else included; and how many requests a change of its file
 * costs.  EVZK_TEST_HANDLES=10000 opens as many as the page says.
 */
#define _GNU_SOURCE 1

#include "test_chubby.h"
#include "tests/real/support/memory_use.h"

enum { HANDLES = 2000, CHANGES = 1000, LEN = 100, BYTES_MOST = 4096 };

static struct {
    int opened, changed, other;
} heard;

static void on_handle(evzk_chubby *h, evzk_chubby_event event, int rc,
                      const char *name, void *arg)
{
    (void)h, (void)rc, (void)name, (void)arg;
    heard.opened += event == EVZK_CHUBBY_OPENED;
    heard.changed += event == EVZK_CHUBBY_CONTENTS_CHANGED;
    heard.other += event > EVZK_CHUBBY_CONTENTS_CHANGED;
}

static void on_done(evzk_chubby *h, int rc, const evzk_chubby_answer *a,
                    void *arg)
{
    int *done = arg;

    (void)h;
    ck_assert_int_eq(rc, EVZK_OK);
    ck_assert_uint_eq(a->stat.len, LEN);
    ++*done;
}

static int wanted(void)
{
    return number_set("EVZK_TEST_HANDLES", RUNNING_ON_VALGRIND || OWN_MALLOC
                                               ? HANDLES / 20
                                               : HANDLES);
}

static const char *path_of(int i)
{
    static char path[64];

    snprintf(path, sizeof path, "/chubby/a-file-of-many-%06d", i);
    return path;
}

static void open_all(evzk_session *s, evzk_chubby **h, int n,
                     evzk_chubby_create create)
{
    const evzk_chubby_options opt = {
        .create = create,
        .data = create ? (char[LEN]){"some contents"} : NULL,
        .data_len = create ? LEN : 0};

    heard.opened = 0;
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(
            evzk_chubby_open(s, path_of(i), &opt, on_handle, NULL, &h[i]),
            EVZK_OK);
    WAIT_MS(300000, heard.opened == n || heard.other > 0);
    ck_assert_int_eq(heard.other, 0);
    all_answered(s);
}

/* The files are made by another session. */
static void make_all(evzk_chubby **h, int n)
{
    struct peer q;

    clear();
    peer_open(&q, the_server());
    open_all(q.s, h, n, EVZK_CHUBBY_MUST_CREATE);
    for (int i = 0; i < n; i++)
        evzk_chubby_free(h[i]);
    idle(q.s);
    peer_close(&q);
}

static void change_all(int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(
            raw_set(op(), path_of(i), (char[LEN]){"other contents"}, LEN), ZOK);
}

START_TEST(many_handles)
{
    int n = wanted(), changes = n < CHANGES ? n : CHANGES, done = 0;
    evzk_chubby **h = calloc((size_t)n, sizeof *h);
    uint64_t opens, requests;
    struct peer p;
    size_t bytes;

    make_all(h, n);
    peer_open(&p, the_server());
    opens = requests_of(p.s);
    bytes = memory_in_use();
    open_all(p.s, h, n, EVZK_CHUBBY_EXISTING);
    bytes = (memory_in_use() - bytes) / (size_t)n;
    requests = requests_of(p.s);
    opens = requests - opens;
    change_all(changes);
    WAIT_MS(120000, heard.changed == changes);
    all_answered(p.s);
    requests = requests_of(p.s) - requests;
    printf("chubby handles=%d bytes_each=%zu open_requests_each=%.2f "
           "changes=%d requests_each=%.2f\n",
           n, bytes, (double)opens / n, changes, (double)requests / changes);
    if (!RUNNING_ON_VALGRIND && !OWN_MALLOC)
        ck_assert_uint_le(bytes, BYTES_MOST);
    requests = requests_of(p.s);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(evzk_chubby_get(h[i], false, on_done, &done), EVZK_OK);
    WAIT(done == n);
    ck_assert_uint_le(requests_of(p.s) - requests, 8); /* Of the lease. */
    for (int i = 0; i < n; i++)
        evzk_chubby_free(h[i]);
    idle(p.s);
    wait_watches(0);
    peer_close(&p);
    free(h);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chubby size");
    TCase *tests = lock_tests(suite, "chubby_size", 600000);

    tcase_add_test(tests, many_handles);
    return lock_suite_run(suite);
}
