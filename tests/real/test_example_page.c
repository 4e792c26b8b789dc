/*
 * The example server's page in a real browser, Chromium.  Skipped without it.
 *
 * The browser loads the page from a process in front, which has it from the
 * server, and never answers /status.json: as a server that is stopped.  A
 * picture on the page comes when the page has asked a second time.  So the
 * browser's "load", and with it the dump of the page, waits for just that.
 */
#include <ftw.h>

#include "support.h"
#include "test_example.h"

enum { ASKED_TWICE = 2, BROWSER_S = 45 };

/* The page, behind its head; the picture that is put to its end; and the page
 * around it, which makes it so wide and says what became of it. */
static const char *page;
static const char picture[] = "<img src=/late.png alt=''>";
static char around[1024];

static void look_through(int width)
{
    snprintf(around, sizeof around,
             "<!doctype html><body><iframe src=/status width=%d height=1400>"
             "</iframe><script>addEventListener('load', () => {"
             "const d = document.querySelector('iframe').contentDocument;"
             "const wide = e => e.scrollWidth > e.clientWidth;"
             "const cards = d.querySelectorAll('section, dl div');"
             "const all = [d.documentElement, ...cards].filter(wide);"
             "document.body.textContent = `${d.getElementById('state')"
             ".textContent}, ${d.body.className}, ${all.length} too wide`;"
             "});</script>",
             width);
}

static void reply(int fd, const char *body, const char *more)
{
    dprintf(fd,
            "HTTP/1.0 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
            "Content-Length: %zu\r\n\r\n%s%s",
            strlen(body) + strlen(more), body, more);
    close(fd);
}

/* A connection without an answer stays open. */
_Noreturn static void be_front(int listener)
{
    int late = -1, asked = 0;

    for (;;) {
        int fd = accept(listener, NULL, NULL);
        char what[1024] = "";

        if (fd < 0 || read(fd, what, sizeof what - 1) < 0)
            continue;
        if (strncmp(what, "GET /status.json ", 17) == 0)
            asked++;
        else if (strncmp(what, "GET /status ", 12) == 0)
            reply(fd, page, picture);
        else if (strncmp(what, "GET / ", 6) == 0)
            reply(fd, around, "");
        else if (strncmp(what, "GET /late.png ", 14) == 0)
            late = fd;
        else
            reply(fd, "", "");
        if (asked >= ASKED_TWICE && late >= 0) {
            reply(late, "", "");
            late = -1;
        }
    }
}

static pid_t front(int *port)
{
    int listener = net_listen(port);
    pid_t pid = harness_fork();

    if (pid == 0)
        be_front(listener);
    close(listener);
    return pid;
}

static bool has_browser(void)
{
    return system("command -v chromium >/dev/null 2>&1") == 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *at)
{
    (void)st, (void)type, (void)at;
    (void)remove(path);
    return 0;
}

/* What the page around it says when all is loaded, in said[]. */
static void browse(int port)
{
    char profile[] = "/tmp/evzk-browser-XXXXXX", line[1024];
    FILE *f;
    size_t n;

    ck_assert_ptr_nonnull(mkdtemp(profile));
    snprintf(line, sizeof line,
             "HOME='%s' timeout %d chromium --headless --no-sandbox "
             "--disable-gpu --disable-quic --no-first-run "
             "--disable-background-networking --disable-component-update "
             "--disable-sync --user-data-dir='%s' --window-size=1400,1400 "
             "--dump-dom http://127.0.0.1:%d/ 2>/dev/null",
             profile, (int)(slow_ms(BROWSER_S * 1000) / 1000), profile, port);
    f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    n = fread(said, 1, sizeof said - 1, f);
    said[n] = '\0';
    pclose(f);
    nftw(profile, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Stopped, it is not "connected" for ever, and the figures are marked; and
 * nothing is wider than its card, on a telephone and on a desk. */
START_TEST(page_says_that_the_server_is_gone)
{
    static const int widths[] = {1280, 390};
    static char copy[sizeof said];
    struct served p;
    pid_t pid;
    int port;

    serve(&p, "/browser", "--name", "a-name-of-some-length");
    WAIT(leads(&p, 64, 1));
    ck_assert_int_eq(ask(p.port, "/status"), 200);
    page = strstr(said, "\r\n\r\n");
    ck_assert_ptr_nonnull(page);
    page = strcpy(copy, page + 4);
    look_through(widths[_i]);
    pid = front(&port);
    browse(port);
    ck_assert_msg(SAYS(" too wide<"), "the page did not ask a second time");
    ck_assert_msg(SAYS(">no answer: figures are ") &&
                      SAYS(" s old, stale, 0 too wide<"),
                  "%s", said);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(harness_join(pid), 128 + SIGKILL);
    ck_assert_int_eq(stop(&p), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("page");

    if (!has_browser()) {
        puts("there is no chromium");
        return 77;
    }
    tcase_add_loop_test(tests, page_says_that_the_server_is_gone, 0, 2);
    return example_main("example-page", tests);
}
