/* The sessions of a conformance run: opened, closed, ended by somebody else
 * with their id and password.
 *
 * A real server hangs up on the first owner of a session when a second one
 * comes; so the first one's handle rests until the session is over, else it
 * would take its session back. */
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/net.h"

struct slot slots[CONFORM_SLOTS];
const char *conform_servers;

struct context {
    int slot, watcher;
};
static struct context contexts[CONFORM_SLOTS + 1][CONFORM_WATCHERS];
static int thief_state;
static const int *awaited_state;
static int awaited;
static unsigned long opened, events;

void *watch_context(int slot, int watcher)
{
    struct context *c = &contexts[slot][watcher];

    c->slot = slot;
    c->watcher = watcher;
    return c;
}

/* Which of its watchers hear a session's events, and in which order, depends
 * on addresses in the real client: only the session's own is told of. */
void on_watch(zhandle_t *zh, int type, int state, const char *path,
              void *context)
{
    const struct context *c = context;

    (void)zh;
    if (type == ZOO_SESSION_EVENT && c->slot == CONFORM_SLOTS) {
        thief_state = state;
    } else if (type == ZOO_SESSION_EVENT) {
        if (c->watcher == 0) {
            tell(c->slot, "session event, state %d", state);
            slots[c->slot].state = state;
        }
    } else {
        events++;
        tell(c->slot, "watcher %d: event %d, state %d, %s", c->watcher, type,
             state, path);
    }
}

static bool reached(void) { return *awaited_state == awaited; }

static void await_state(zhandle_t *zh, const int *state, int value)
{
    awaited_state = state;
    awaited = value;
    platform_wait(&zh, 1, reached);
}

static void no_log(const char *line) { (void)line; }

static zhandle_t *start(const clientid_t *id, int slot)
{
    zhandle_t *zh =
        zookeeper_init2(conform_servers, on_watch, CONFORM_TIMEOUT_MS, id,
                        watch_context(slot, 0), 0, no_log);

    if (!zh) {
        fprintf(stderr, "conform: zookeeper_init2 failed\n");
        exit(3);
    }
    return zh;
}

void lives_open(int slot)
{
    struct slot *s = &slots[slot];

    memset(s, 0, sizeof *s);
    s->number = slot;
    s->zh = start(NULL, slot);
    await_state(s->zh, &s->state, ZOO_CONNECTED_STATE);
    s->id = *zoo_client_id(s->zh);
    opened++;
    tell(slot, "open: session %lu, timeout %d", tell_session(s->id.client_id),
         zoo_recv_timeout(s->zh));
}

/* ---- A read, behind all events ---- */

static bool was_read;

static void on_read(int rc, const struct Stat *stat, const void *data)
{
    const struct slot *s = data;

    (void)stat;
    if (rc != ZOK)
        tell(s->number, "barrier: %d", rc);
    was_read = true;
}

static bool is_read(void) { return was_read; }

void lives_barrier(int slot)
{
    struct slot *s = &slots[slot];
    int rc;

    if (!s->zh || !s->watched)
        return;
    was_read = false;
    rc = zoo_aexists(s->zh, "/", 0, on_read, s);
    if (rc == ZOK)
        platform_wait(&s->zh, 1, is_read);
    else
        tell(slot, "barrier: call %d", rc);
}

/* ---- Its end, so that the server has done it when we go on ---- */

static int farewell_fd;
static struct evzk__farewell farewell;
static enum evzk__answer answer;

static bool answered(void)
{
    answer = evzk__net_await_farewell(farewell_fd, &farewell);
    return answer != EVZK__NOT_YET;
}

static const char *say_farewell(zhandle_t *zh)
{
    struct timeval tv;
    int interest;

    memset(&farewell, 0, sizeof farewell);
    zookeeper_interest(zh, &farewell_fd, &interest, &tv);
    if (!evzk__net_say_farewell(farewell_fd)) {
        fprintf(stderr, "conform: a farewell could not be sent\n");
        exit(3);
    }
    platform_wait(&zh, 0, answered);
    evzk__net_deaden(farewell_fd);
    zookeeper_close(zh);
    return answer == EVZK__CONFIRMED ? "confirmed" : "cut";
}

void lives_close(int slot)
{
    tell(slot, "close: %s", say_farewell(slots[slot].zh));
    slots[slot].zh = NULL;
}

static zhandle_t *steal(const struct slot *s, bool wrong)
{
    clientid_t id = s->id;
    zhandle_t *zh;

    if (wrong)
        id.passwd[3] = (char)(id.passwd[3] ^ 0x55);
    thief_state = 0;
    zh = start(&id, CONFORM_SLOTS);
    await_state(zh, &thief_state,
                wrong ? ZOO_EXPIRED_SESSION_STATE : ZOO_CONNECTED_STATE);
    return zh;
}

static void end_from_elsewhere(struct slot *s)
{
    if (pick(4) == 0) {
        zhandle_t *zh = steal(s, true);

        tell(s->number, "wrong password: state %d", zoo_state(zh));
        zookeeper_close(zh);
    }
    tell(s->number, "closed by another: %s", say_farewell(steal(s, false)));
}

/* A handle that is of no more use says so. */
static void bury(struct slot *s)
{
    int rc = zoo_aexists(s->zh, "/", 0, on_read, s);

    tell_rc(rc);
    tell(s->number, "dead: state %d, call %d", zoo_state(s->zh), rc);
    zookeeper_close(s->zh);
    s->zh = NULL;
}

void lives_expire(int slot)
{
    struct slot *s = &slots[slot];

    end_from_elsewhere(s);
    await_state(s->zh, &s->state, ZOO_EXPIRED_SESSION_STATE);
    bury(s);
}

static void on_auth(int rc, const void *data)
{
    const struct slot *s = data;

    tell_rc(rc);
    tell(s->number, "auth nosuch: %d", rc);
}

void lives_spoil_auth(int slot)
{
    struct slot *s = &slots[slot];

    tell(slot, "add_auth nosuch: %d",
         zoo_add_auth(s->zh, "nosuch", "x", 1, on_auth, s));
    await_state(s->zh, &s->state, ZOO_AUTH_FAILED_STATE);
    end_from_elsewhere(s);
    bury(s);
}

unsigned long lives_opened(void) { return opened; }
unsigned long lives_events(void) { return events; }
