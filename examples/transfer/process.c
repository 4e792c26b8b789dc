/* What every process has: a session, and moments at which it may be killed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <event2/event.h>

#include "demo.h"

const char *const SITE[SITES] = {"alice", "bob"};

struct process self;

void fail(const char *what, const char *why)
{
    fprintf(stderr, "transfer: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

void check(const char *what, int rc)
{
    if (rc != EVZK_OK)
        fail(what, evzk_strerror(rc));
}

void come_to(enum moment moment)
{
    int armed = (int)moment;

    if (atomic_compare_exchange_strong(&self.shared->armed, &armed, NEVER))
        raise(SIGKILL);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)rc, (void)arg;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(self.base);
}

void process_begin(const struct options *opt, struct shared *shared)
{
    evzk_session_options session = {.timeout_ms = opt->session_ms};

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* No process outlives the parent. */
    signal(SIGINT, SIG_IGN);
    self = (struct process){
        .opt = opt, .shared = shared, .base = event_base_new()};
    if (!self.base)
        fail("start", "out of memory");
    check("session", evzk_session_open(self.base, opt->servers, &session,
                                       on_session, NULL, &self.s));
}

int process_end(void)
{
    event_base_dispatch(self.base);
    evzk_session_free(self.s);
    event_base_free(self.base);
    return EXIT_SUCCESS;
}
