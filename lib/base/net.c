/* What the library does with the C client's socket, since the client itself
 * does it badly or not at all. */
#include "lib/base/net.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void evzk__net_cork(int fd, bool on)
{
    int value = on;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

int evzk__net_own(int fd)
{
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void evzk__net_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool evzk__net_room(unsigned n)
{
    int fd[EVZK__ROOM_MAX];
    unsigned got = 0;
    bool room = true;

    while (room && got < n && got < EVZK__ROOM_MAX) {
        fd[got] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        room = fd[got] >= 0 || (errno != EMFILE && errno != ENFILE);
        if (fd[got] < 0)
            break; /* Another error: a later call will report it. */
        got++;
    }
    while (got > 0)
        close(fd[--got]);
    return room;
}

enum evzk__net_state evzk__net_look(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if (n > 0)
        return EVZK__DATA;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? EVZK__NOTHING
                                                        : EVZK__HUNG_UP;
}

/* Has the peer hung up?  While there are bytes to read, only the state of the
 * socket shows that. */
static bool hung_up(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0;
}

size_t evzk__net_peek(int fd, unsigned char *buf, size_t size, bool *ended)
{
    ssize_t n;

    *ended = hung_up(fd); /* Asked before the read: so all has come. */
    n = recv(fd, buf, size, MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0 && !(n < 0 && (errno == EAGAIN || errno == EINTR)))
        *ended = true;
    return n > 0 ? (size_t)n : 0;
}

void evzk__net_ready_at(int fd, size_t bytes)
{
    int value = (int)bytes;

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value);
}

/* The xid of our own request: its answer has the same. */
#define XID 'E', 'V', 'Z', 'K'

bool evzk__net_say_farewell(int fd)
{
    /* Length 8, then a request header: xid, and type -11 (closeSession). */
    static const unsigned char frame[12] = {0,    0,    0,    8,   XID,
                                            0xff, 0xff, 0xff, 0xf5};

    return send(fd, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)sizeof frame;
}

static void keep_tail(struct evzk__farewell *f, const unsigned char *buf,
                      size_t n)
{
    size_t size = sizeof f->tail;

    if (n > size) {
        buf += n - size;
        n = size;
    }
    memmove(f->tail, f->tail + n, size - n);
    memcpy(f->tail + size - n, buf, n);
}

/* Length 16, then a reply header: our xid, some zxid, error 0.  A server sends
 * it last, before it hangs up. */
static bool is_answer(const struct evzk__farewell *f)
{
    static const unsigned char head[8] = {0, 0, 0, 16, XID};
    static const unsigned char ok[4];

    return memcmp(f->tail, head, sizeof head) == 0 &&
           memcmp(f->tail + 16, ok, sizeof ok) == 0;
}

enum evzk__answer evzk__net_await_farewell(int fd, struct evzk__farewell *f)
{
    unsigned char buf[16384];
    int rounds = 64; /* The rest in the next loop step. */

    while (rounds-- > 0) {
        ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);

        if (n > 0)
            keep_tail(f, buf, (size_t)n);
        else if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        else
            return is_answer(f) ? EVZK__CONFIRMED : EVZK__CUT;
    }
    return is_answer(f) ? EVZK__CONFIRMED : EVZK__NOT_YET;
}

/* False: no descriptor is free; or the process has lowered its limit below fd,
 * so that nothing can replace it. */
static bool replace(int fd)
{
    int pair[2];
    bool done;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    done = dup3(pair[0], fd, O_CLOEXEC) == fd;
    close(pair[0]);
    close(pair[1]);
    return done;
}

void evzk__net_deaden(int fd)
{
    int dead;

    if (fd < 0 || replace(fd))
        return;
    close(fd); /* No descriptors left: then its own is free for this.  Beyond
                * the limit it stays free, and nobody can be given it. */
    dead = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (dead >= 0 && dead != fd) {
        dup3(dead, fd, O_CLOEXEC);
        close(dead);
    }
}

void evzk__net_cut(int fd)
{
    if (fd >= 0 && !replace(fd))
        (void)shutdown(fd, SHUT_RDWR);
}
