/* The socket of a handle: when the loop watches it, when the client may read
 * and write, when the connection counts as lost.
 *
 * How it can fail.  The client notices a silent server late, believes every
 * greeting, and tries again and again without a free descriptor.  So each of
 * these is judged here, before the client sees it.
 */
#include "lib/client/handle.h"

#include <string.h>

#include "lib/base/loop.h"
#include "lib/base/net.h"
#include "lib/base/os.h"

enum {
    EARLY_US = 2000, /* Before the client would call a connection dead. */
    SOCKETS = 2,     /* Descriptors of a connection: the client's and ours. */
    STARVED_US = 100000,
    SAY_US = 10000000
};

/* A client that notices a loss goes through all of its watches at once, and no
 * machine listens.  So the loss is noticed here first, as a rule: that the
 * server has hung up, or was silent for too long.  The handle is then left as
 * it is. */
static bool is_up(const struct evzk__client *c)
{
    return !c->lost && zoo_state(c->zh) == ZOO_CONNECTED_STATE;
}

static int64_t silent_at(const struct evzk__client *c)
{
    return c->heard + zoo_recv_timeout(c->zh) * INT64_C(1000) * 2 / 3 -
           EARLY_US;
}

static int socket_of(const struct evzk__client *c)
{
    int state = zoo_state(c->zh);

    /* In every other state the client has closed its socket, even if it has not
     * said so. */
    return state == ZOO_CONNECTED_STATE || state == ZOO_CONNECTING_STATE ||
                   state == ZOO_ASSOCIATING_STATE || state == ZOO_READONLY_STATE
               ? c->fd
               : -1;
}

int evzk__client_fd(const struct evzk__client *c)
{
    if (c->lost || c->stranger || socket_of(c) < 0)
        return -1;
    return c->own >= 0 ? c->own : c->fd;
}

int64_t evzk__client_begun(const struct evzk__client *c) { return c->begun; }

uint32_t evzk__client_attempts(const struct evzk__client *c)
{
    return c->attempts;
}

uint32_t evzk__client_failures(const struct evzk__client *c)
{
    return c->attempts + c->refused - (socket_of(c) >= 0);
}

const char *evzk__client_server(const struct evzk__client *c)
{
    return zoo_get_current_server(c->zh);
}

const char *evzk__client_why(const struct evzk__client *c)
{
    return c->greeting.why;
}

static void close_old(struct evzk__client *c)
{
    evzk__net_close(c->old);
    c->old = -1;
}

/* The loop still watches our descriptor, so it is closed in the next loop step.
 */
static void give_up_own(struct evzk__client *c)
{
    close_old(c);
    c->old = c->own;
    c->own = -1;
}

void evzk__client_hang_up(struct evzk__client *c)
{
    evzk__net_cut(socket_of(c));
    close_old(c);
    evzk__net_close(c->own);
    c->own = -1;
}

void evzk__client_deaden(struct evzk__client *c)
{
    evzk__net_deaden(socket_of(c));
    evzk__net_deaden(c->own);
    evzk__net_deaden(c->old);
}

enum evzk__client_state evzk__client_state(const struct evzk__client *c)
{
    int state = zoo_state(c->zh);

    if (c->stranger)
        return EVZK__CLIENT_STRANGER;
    if (c->lost)
        return EVZK__CLIENT_DOWN;
    if (state == ZOO_CONNECTED_STATE)
        return EVZK__CLIENT_UP;
    if (state == ZOO_EXPIRED_SESSION_STATE)
        return EVZK__CLIENT_EXPIRED;
    if (state == ZOO_AUTH_FAILED_STATE)
        return EVZK__CLIENT_AUTH_FAILED;
    return EVZK__CLIENT_DOWN;
}

/* Without a free descriptor the client would fail, and log an error, several
 * times a second.  So it may connect only when enough descriptors are free. */
static bool starved(struct evzk__client *c, int64_t now)
{
    if (socket_of(c) >= 0 || evzk__net_room(SOCKETS)) {
        c->say_at = 0;
        return false;
    }
    if (c->own >= 0)
        give_up_own(c); /* Our own descriptor counts, too. */
    if (now >= c->say_at) {
        c->say_at = now + SAY_US;
        c->hooks.log(c->arg, EVZK_LOG_WARN, EVZK__NO_DESCRIPTOR);
    }
    return true;
}

/* May the client read the greeting?  The client believes what it reads: it
 * would take a session for expired, or probe for other servers and block.  So
 * it sees only greetings that are complete and right. */
static bool greeted(struct evzk__client *c)
{
    unsigned char bytes[EVZK__GREETING];
    bool ended;
    size_t n = evzk__net_peek(c->fd, bytes, sizeof bytes, &ended);

    switch (evzk__greeting_judge(&c->greeting, bytes, n)) {
    case EVZK__GREETING_RIGHT:
        evzk__net_ready_at(c->fd, 1);
        return true;
    case EVZK__GREETING_WRONG:
        c->stranger = true;
        return false;
    case EVZK__GREETING_SHORT:
        evzk__net_ready_at(c->fd, n + 1);
        return ended; /* The client notices the end. */
    }
    return false;
}

/* Gives a silent server up.  The client itself would wait for two thirds of the
 * time-out, however many servers there are.  A dead socket looks to it like a
 * server that has hung up, so it goes on to the next one: when it reads, or, if
 * the connection is not made yet, when it writes. */
static void skip(struct evzk__client *c)
{
    int what = zoo_state(c->zh) == ZOO_CONNECTING_STATE ? ZOOKEEPER_WRITE
                                                        : ZOOKEEPER_READ;
    struct evzk__client *before = evzk__client_enter(c);

    c->hooks.silent(c->arg, evzk__client_server(c),
                    (uint32_t)(c->patience / 1000));
    c->skipping = true;
    evzk__net_cut(c->fd);
    (void)zookeeper_process(c->zh, what);
    c->skipping = false;
    evzk__client_leave(before);
    give_up_own(c);
}

static bool awaits_greeting(const struct evzk__client *c)
{
    int state = zoo_state(c->zh);

    return socket_of(c) >= 0 &&
           (state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE);
}

/* A greeting that came while the process stood still is read first. */
static bool is_silent(struct evzk__client *c, int64_t now)
{
    return awaits_greeting(c) && now - c->begun >= c->patience &&
           !(zoo_state(c->zh) == ZOO_ASSOCIATING_STATE && greeted(c)) &&
           !c->stranger;
}

/* The client has begun to connect, or could not. */
static void note_attempt(struct evzk__client *c, int rc, int64_t now)
{
    if (evzk__client_fd(c) >= 0) {
        c->begun = now;
        c->attempts++;
        give_up_own(c);
        c->own = evzk__net_own(c->fd);
    } else if (rc != ZOK)
        c->refused++;
}

/* Waits as long as the client asks, but not past our own deadlines: for a
 * silent server, and for a late greeting. */
static int64_t wait_of(const struct evzk__client *c, const struct timeval *tv,
                       int rc, int64_t now)
{
    int64_t wait_us = (int64_t)tv->tv_sec * 1000000 + tv->tv_usec;

    /* Errors are normal life, but the loop must not spin. */
    if (rc != ZOK && wait_us < 10000)
        wait_us = 10000;
    if (is_up(c) && silent_at(c) - now < wait_us)
        wait_us = silent_at(c) - now;
    if (awaits_greeting(c) && c->begun + c->patience - now < wait_us)
        wait_us = c->begun + c->patience - now;
    return wait_us;
}

static void ask_interest(struct evzk__client *c, int64_t now, int *fd,
                         int *what, int64_t *wait_us)
{
    bool open = evzk__client_fd(c) >= 0;
    struct evzk__client *before = evzk__client_enter(c);
    struct timeval tv = {0, 0};
    int interest = 0, rc;

    rc = zookeeper_interest(c->zh, fd, &interest, &tv);
    evzk__client_leave(before);
    c->fd = *fd;
    if (!open)
        note_attempt(c, rc, now);
    *fd = evzk__client_fd(c);
    *what = (interest & ZOOKEEPER_READ ? EVZK__READ : 0) |
            (interest & ZOOKEEPER_WRITE ? EVZK__WRITE : 0);
    if (socket_of(c) < 0 && c->own >= 0)
        give_up_own(c);
    *wait_us = wait_of(c, &tv, rc, now);
}

void evzk__client_interest(struct evzk__client *c, int *fd, int *what,
                           int64_t *wait_us)
{
    int64_t now = evzk__now_us();

    *fd = -1;
    *what = 0;
    *wait_us = 0;
    if (is_up(c) && now >= silent_at(c))
        c->lost = true;
    if (c->lost || c->stranger)
        return;
    close_old(c);
    if (is_silent(c, now))
        skip(c); /* The next server in another loop step: this may end the
                    round. */
    else if (starved(c, now))
        *wait_us = STARVED_US;
    else
        ask_interest(c, now, fd, what, wait_us);
}

/* What of reading and writing the client may do now: it does not read before
 * the greeting has been judged. */
static int hold_back_greeting(struct evzk__client *c, int what)
{
    if (!(what & EVZK__READ) || !awaits_greeting(c))
        return what;
    /* Before its own request was sent the client takes no greeting. */
    if (zoo_state(c->zh) == ZOO_CONNECTING_STATE || !greeted(c))
        what &= ~EVZK__READ;
    return c->stranger ? 0 : what;
}

bool evzk__client_process(struct evzk__client *c, int what)
{
    enum evzk__net_state look = is_up(c) ? evzk__net_look(c->fd) : EVZK__DATA;
    struct evzk__client *before;
    int rc;

    if (look == EVZK__HUNG_UP) {
        c->lost = true;
        return false;
    }
    what = hold_back_greeting(c, what);
    if (what == 0)
        return false;
    if (look == EVZK__DATA)
        c->heard = evzk__now_us();
    before = evzk__client_enter(c);
    rc = zookeeper_process(c->zh,
                           (what & EVZK__READ ? ZOOKEEPER_READ : 0) |
                               (what & EVZK__WRITE ? ZOOKEEPER_WRITE : 0));

    evzk__client_leave(before);
    if (zoo_state(c->zh) ==
        ZOO_READONLY_STATE) { /* Or the client would probe. */
        c->stranger = true;
        strcpy(c->greeting.why, "it is read-only, which was not asked for");
        return false;
    }
    return rc == ZOK;
}
