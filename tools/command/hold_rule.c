/* The rule of the deadline: what CMD gets, and when. */
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "command.h"
#include "hold.h"
#include "hold_rule.h"

#define MARGIN_US 100000     /* The least margin. */
#define GRACE_MAX_US 2000000 /* The longest grace, if no option says more. */
#define LOOK_MIN_US 10000
#define LOOK_MAX_US 400000

void hold_note(const char *format, ...)
{
    char text[400];
    va_list list;

    if (!settings.verbose)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    complain("%s", text);
}

void hold_set_times(struct hold *h)
{
    int64_t timeout_us =
        (int64_t)evzk_session_timeout_ms(h->connection.session) * 1000;

    h->margin_us = timeout_us / 20;
    if (h->margin_us < MARGIN_US)
        h->margin_us = MARGIN_US;
    h->grace_us = timeout_us / 3;
    if (h->grace_us > GRACE_MAX_US)
        h->grace_us = GRACE_MAX_US;
    if (hold_options.grace_ms != HOLD_UNSET)
        h->grace_us = (int64_t)hold_options.grace_ms * 1000;
    if (timeout_us < 4 * MARGIN_US)
        complain("the session time-out is %lld ms, too short to run a command: "
                 "give --session-timeout 1000 or more",
                 (long long)timeout_us / 1000);
}

/* Asks CMD to end. */
static void warn(struct hold *h)
{
    if (h->warned)
        return;
    h->warned = h->lost = true;
    if (strcmp(hold_options.on_lost, "kill") == 0)
        return;
    complain("%s: the servers are silent, and the lease ends in %lld ms: "
             "ending %s",
             h->path, (long long)(h->deadline_us - boottime_us()) / 1000,
             h->arguments->run[0]);
    if (strcmp(hold_options.on_lost, "term") == 0)
        child_signal(&h->child, SIGTERM);
    else
        child_hook(hold_options.on_lost);
}

void hold_kill_child(struct hold *h)
{
    h->lost = true;
    hold_note("%s: killing %s", h->path, h->arguments->run[0]);
    child_signal(&h->child, SIGKILL);
}

void hold_note_deadline(const struct hold *h)
{
    if (settings.verbose > 1)
        hold_note("%s: lease until %lld us", h->path,
                  (long long)h->deadline_us);
}

/* Has the leader moved the deadline on?  Then the watchdog has to know. */
static void renew(struct hold *h)
{
    int64_t deadline_us = evzk_lease_deadline_us(h->lease);

    if (deadline_us == 0 || deadline_us == h->deadline_us)
        return;
    h->deadline_us = deadline_us;
    watchdog_guard(&h->watchdog, h->child.pid, deadline_us - h->margin_us);
    hold_note_deadline(h);
}

/* The watchdog has to hear of a later deadline in good time. */
static void look_again(struct hold *h, int64_t in_us, int64_t left_us)
{
    if (in_us > left_us / 2)
        in_us = left_us / 2;
    if (in_us > LOOK_MAX_US)
        in_us = LOOK_MAX_US;
    if (in_us < LOOK_MIN_US)
        in_us = LOOK_MIN_US;
    event_add(h->look, &(struct timeval){0, in_us});
}

void hold_look(struct hold *h)
{
    int64_t now_us, left_us, warn_us;

    child_stands(&h->child);
    renew(h);
    now_us = boottime_us();
    left_us = h->deadline_us - h->margin_us - now_us;
    warn_us = h->deadline_us - h->grace_us - now_us;
    if (left_us <= 0) {
        hold_kill_child(h);
        return;
    }
    if (h->doubt && warn_us <= 0)
        warn(h);
    look_again(h, h->doubt && warn_us > 0 ? warn_us : left_us, left_us);
}
