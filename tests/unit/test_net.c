/* The farewell, recognised in whatever pieces it comes; and the dead socket. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/net.h"

/* The request: length 8, a request header with our xid, closeSession. */
static const unsigned char request[12] = {0,   0,   0,    8,    'E',  'V',
                                          'Z', 'K', 0xff, 0xff, 0xff, 0xf5};

/* The answer: length 16, a reply header with our xid, a zxid, no error. */
static const unsigned char answer[20] = {0, 0, 0, 16, 'E', 'V', 'Z', 'K', 0, 0,
                                         0, 1, 2, 3,  4,   5,   0,   0,   0, 0};

/* Frames of other answers, the first 16 long too. */
static const unsigned char others[] = {
    0, 0, 0, 16, 0xff, 0xff, 0xff, 0xfe, 9, 9, 9, 9, 9, 9, 9,   9,  0,
    0, 0, 0, 0,  0,    0,    18,   0,    0, 0, 7, 0, 0, 0, 0,   0,  0,
    0, 9, 0, 0,  0,    0,    'E',  'V',  0, 0, 0, 4, 0, 0, 'Z', 'K'};

struct pipes {
    int ours, theirs;
    struct evzk__farewell f;
};

static struct pipes set_up(void)
{
    struct pipes p = {.ours = -1};
    int fd[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    p.ours = fd[0];
    p.theirs = fd[1];
    return p;
}

static void tear_down(struct pipes *p)
{
    close(p->ours);
    if (p->theirs >= 0)
        close(p->theirs);
}

static void put(struct pipes *p, const void *data, size_t n)
{
    UNIT_HOT(send(p->theirs, data, n, MSG_NOSIGNAL) == (ssize_t)n);
}

static enum evzk__answer look(struct pipes *p)
{
    return evzk__net_await_farewell(p->ours, &p->f);
}

static void hang_up(struct pipes *p)
{
    close(p->theirs);
    p->theirs = -1;
}

/* Looking leaves the bytes in the socket. */
START_TEST(test_look)
{
    struct pipes p = set_up();
    char byte = 0;

    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__NOTHING);
    put(&p, "x", 1);
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__DATA);
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__DATA);
    hang_up(&p);
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__DATA);
    ck_assert_int_eq(recv(p.ours, &byte, 1, 0), 1);
    ck_assert_int_eq(byte, 'x');
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__HUNG_UP);
    evzk__net_deaden(p.ours);
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__HUNG_UP);
    ck_assert_int_eq(evzk__net_look(-1), EVZK__HUNG_UP);
    tear_down(&p);
}
END_TEST

START_TEST(test_request)
{
    struct pipes p = set_up();
    unsigned char buf[64];

    ck_assert(evzk__net_say_farewell(p.ours));
    ck_assert_int_eq(recv(p.theirs, buf, sizeof buf, MSG_DONTWAIT),
                     sizeof request);
    ck_assert_mem_eq(buf, request, sizeof request);
    ck_assert_int_eq(look(&p), EVZK__NOT_YET);
    tear_down(&p);
}
END_TEST

/* No signal, no wait: of a peer that has gone, and of a full socket. */
START_TEST(test_request_fails)
{
    struct pipes p = set_up();
    static char much[65536];

    while (send(p.ours, much, sizeof much, MSG_DONTWAIT) > 0)
        ;
    while (send(p.ours, much, 1, MSG_DONTWAIT) > 0)
        ;
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert(!evzk__net_say_farewell(p.ours));
    hang_up(&p);
    ck_assert(!evzk__net_say_farewell(p.ours));
    tear_down(&p);
    ck_assert(!evzk__net_say_farewell(-1));
}
END_TEST

/* All that comes, in pieces of one size; confirmed with the last byte only. */
static void feed(const unsigned char *bytes, size_t len, size_t piece)
{
    struct pipes p = set_up();

    for (size_t i = 0; i < len; i += piece) {
        size_t n = len - i < piece ? len - i : piece;

        put(&p, bytes + i, n);
        UNIT_HOT(look(&p) == (i + n == len ? EVZK__CONFIRMED : EVZK__NOT_YET));
    }
    UNIT_HOT(look(&p) == EVZK__CONFIRMED);
    hang_up(&p);
    UNIT_HOT(look(&p) == EVZK__CONFIRMED);
    tear_down(&p);
}

START_TEST(test_pieces)
{
    for (size_t piece = 1; piece <= sizeof answer; piece++)
        feed(answer, sizeof answer, piece);
}
END_TEST

START_TEST(test_after_others)
{
    unsigned char all[3 * sizeof others + sizeof answer];

    for (size_t i = 0; i < 3; i++)
        memcpy(all + i * sizeof others, others, sizeof others);
    memcpy(all + 3 * sizeof others, answer, sizeof answer);
    for (size_t piece = 1; piece <= sizeof all; piece++)
        feed(all, sizeof all, piece);
}
END_TEST

/* Two cuts anywhere. */
START_TEST(test_cuts)
{
    unsigned char all[sizeof others + sizeof answer];

    memcpy(all, others, sizeof others);
    memcpy(all + sizeof others, answer, sizeof answer);
    for (size_t i = 1; i < sizeof all; i++) {
        for (size_t j = i + 1; j < sizeof all; j++) {
            struct pipes p = set_up();

            put(&p, all, i);
            UNIT_HOT(look(&p) == EVZK__NOT_YET);
            put(&p, all + i, j - i);
            UNIT_HOT(look(&p) == EVZK__NOT_YET);
            put(&p, all + j, sizeof all - j);
            hang_up(&p); /* The answer and the end at once. */
            UNIT_HOT(look(&p) == EVZK__CONFIRMED);
            tear_down(&p);
        }
    }
}
END_TEST

/* Much else before it: it takes several turns, and none of them waits. */
START_TEST(test_after_much)
{
    struct pipes p = set_up();
    static unsigned char much[8192];
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            send(p.theirs, much, sizeof much, MSG_NOSIGNAL);
        send(p.theirs, answer, sizeof answer, MSG_NOSIGNAL);
        _exit(0);
    }
    hang_up(&p);
    while (look(&p) == EVZK__NOT_YET)
        ;
    ck_assert_int_eq(look(&p), EVZK__CONFIRMED);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    tear_down(&p);
}
END_TEST

START_TEST(test_no_answer)
{
    for (size_t n = 0; n < sizeof answer; n++) {
        struct pipes p = set_up();

        put(&p, others, sizeof others);
        if (n > 0)
            put(&p, answer, n);
        ck_assert_int_eq(look(&p), EVZK__NOT_YET);
        hang_up(&p);
        ck_assert_int_eq(look(&p), EVZK__CUT);
        ck_assert_int_eq(look(&p), EVZK__CUT);
        tear_down(&p);
    }
}
END_TEST

/* An answer with an error is none; nor is one to another question. */
START_TEST(test_wrong_answer)
{
    static const size_t places[] = {0, 3, 4, 5, 6, 7, 16, 17, 18, 19};

    for (size_t i = 0; i < UNIT_COUNT(places); i++) {
        struct pipes p = set_up();
        unsigned char wrong[sizeof answer];

        memcpy(wrong, answer, sizeof answer);
        wrong[places[i]] ^= 0x11;
        put(&p, wrong, sizeof wrong);
        ck_assert_int_eq(look(&p), EVZK__NOT_YET);
        hang_up(&p);
        ck_assert_int_eq(look(&p), EVZK__CUT);
        tear_down(&p);
    }
}
END_TEST

START_TEST(test_no_socket)
{
    struct evzk__farewell f = {{0}};

    ck_assert_int_eq(evzk__net_await_farewell(-1, &f), EVZK__CUT);
    evzk__net_deaden(-1);
    evzk__net_cork(-1, true);
}
END_TEST

static void expect_dead(int fd)
{
    char c = 'x';

    ck_assert_int_eq(send(fd, &c, 1, MSG_NOSIGNAL | MSG_DONTWAIT), -1);
    ck_assert_int_eq(errno, EPIPE);
    ck_assert_int_eq(recv(fd, &c, 1, MSG_DONTWAIT), 0);
}

static int count_fds(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++) {
        int copy = dup(fd);

        if (copy >= 0) {
            n++;
            close(copy);
        }
    }
    return n;
}

/* Writes fail at once, and nothing comes to the peer, not even an end. */
START_TEST(test_deaden)
{
    struct pipes p = set_up();
    int spare = dup(p.ours), before = count_fds();
    char c = 'x';

    ck_assert_int_ge(spare, 0);
    evzk__net_deaden(p.ours);
    expect_dead(p.ours);
    ck_assert_int_eq(count_fds(), before);
    ck_assert_int_eq(recv(p.theirs, &c, 1, MSG_DONTWAIT), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_eq(send(spare, &c, 1, MSG_NOSIGNAL), 1);
    ck_assert_int_eq(recv(p.theirs, &c, 1, MSG_DONTWAIT), 1);
    close(spare);
    ck_assert_int_eq(recv(p.theirs, &c, 1, MSG_DONTWAIT), 0);
    tear_down(&p);
}
END_TEST

/* A child's deadened copy, closed with it: the parent's goes on. */
START_TEST(test_deaden_in_child)
{
    struct pipes p = set_up();
    char buf[4] = "";
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        char c = 'x';

        evzk__net_deaden(p.ours);
        signal(SIGPIPE, SIG_IGN);
        _exit(write(p.ours, &c, 1) == -1 && errno == EPIPE ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(write(p.ours, "ab", 2), 2);
    ck_assert_int_eq(recv(p.theirs, buf, sizeof buf, MSG_DONTWAIT), 2);
    ck_assert_int_eq(write(p.theirs, "cd", 2), 2);
    ck_assert_int_eq(recv(p.ours, buf, sizeof buf, MSG_DONTWAIT), 2);
    tear_down(&p);
}
END_TEST

/* And the other way round: here the parent's is deadened. */
START_TEST(test_deaden_here)
{
    struct pipes p = set_up();
    char c = 0;
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        int ok = recv(p.ours, &c, 1, 0) == 1 && c == 'q' &&
                 send(p.ours, "r", 1, MSG_NOSIGNAL) == 1;

        _exit(ok ? 0 : 1);
    }
    evzk__net_deaden(p.ours);
    expect_dead(p.ours);
    ck_assert_int_eq(send(p.theirs, "q", 1, MSG_NOSIGNAL), 1);
    ck_assert_int_eq(recv(p.theirs, &c, 1, 0), 1);
    ck_assert_int_eq(c, 'r');
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    tear_down(&p);
}
END_TEST

/* No descriptor is free: the number stays taken, or another thread would be
 * given it before the client closes it. */
START_TEST(test_cut_without_descriptors)
{
    struct pipes p = set_up();
    struct rlimit before, none;
    char c;

    ck_assert(evzk__net_room(EVZK__ROOM_MAX));
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert(!evzk__net_room(1));
    evzk__net_cut(p.ours);
    evzk__net_cut(-1);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert(evzk__net_room(1));
    ck_assert_int_ge(fcntl(p.ours, F_GETFD), 0);
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__HUNG_UP);
    ck_assert_int_eq(recv(p.theirs, &c, 1, 0), 0);
    tear_down(&p);
}
END_TEST

/* A limit that was lowered below a descriptor: others are free, and yet nothing
 * can be put in its place. */
static struct rlimit lower_limit(struct pipes *p)
{
    struct rlimit before, low;
    int high = fcntl(p->ours, F_DUPFD_CLOEXEC, 100);

    ck_assert_int_ge(high, 100);
    close(p->ours);
    p->ours = high;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = 50;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    ck_assert(evzk__net_room(EVZK__ROOM_MAX));
    return before;
}

START_TEST(test_cut_beyond_limit)
{
    struct pipes p = set_up();
    struct rlimit before = lower_limit(&p);
    int open_before = count_fds();
    char c;

    evzk__net_cut(p.ours);
    ck_assert_int_eq(count_fds(), open_before);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_ge(fcntl(p.ours, F_GETFD), 0);
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__HUNG_UP);
    expect_dead(p.ours);
    ck_assert_int_eq(recv(p.theirs, &c, 1, MSG_DONTWAIT), 0);
    tear_down(&p);
}
END_TEST

/* The number becomes free, and may: beyond the limit nobody is given it. */
START_TEST(test_deaden_beyond_limit)
{
    struct pipes p = set_up();
    struct rlimit before = lower_limit(&p);
    int spare = dup(p.ours), open_before = count_fds();
    char c = 'x';

    ck_assert_int_ge(spare, 0);
    evzk__net_deaden(p.ours);
    ck_assert_int_eq(count_fds(), open_before - 1);
    ck_assert_int_eq(send(p.ours, &c, 1, MSG_NOSIGNAL | MSG_DONTWAIT), -1);
    ck_assert_int_eq(evzk__net_look(p.ours), EVZK__HUNG_UP);
    ck_assert_int_eq(recv(p.theirs, &c, 1, MSG_DONTWAIT), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_eq(send(spare, &c, 1, MSG_NOSIGNAL), 1);
    ck_assert_int_eq(recv(p.theirs, &c, 1, MSG_DONTWAIT), 1);
    close(spare);
    ck_assert_int_eq(recv(p.theirs, &c, 1, MSG_DONTWAIT), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    tear_down(&p);
}
END_TEST

UNIT_MAIN("net", test_look, test_request, test_request_fails, test_pieces,
          test_after_others, test_cuts, test_after_much, test_no_answer,
          test_wrong_answer, test_no_socket, test_deaden, test_deaden_in_child,
          test_deaden_here, test_cut_without_descriptors, test_cut_beyond_limit,
          test_deaden_beyond_limit)
