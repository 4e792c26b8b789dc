/* The functions by which requests and machines ask their session. */
#include "lib/request/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/os.h"
#include "lib/base/view.h"

enum { PAUSE_US = 100000 };

void evzk__core_unref(struct evzk__core *s)
{
    if (--s->refs == 0)
        s->destroy(s);
}

void evzk__requests_pause(struct evzk__core *s)
{
    s->send_at = evzk__now_us() + PAUSE_US;
}

void evzk__session_vlog(struct evzk__core *s, evzk_log_level level,
                        const char *fmt, va_list ap)
{
    char line[1024];

    if (!s->log.cb || level > s->log.level)
        return;
    vsnprintf(line, sizeof line, fmt, ap);
    s->log.cb(level, line, s->log.arg);
}

void evzk__session_log(struct evzk__core *s, evzk_log_level level,
                       const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    evzk__session_vlog(s, level, fmt, ap);
    va_end(ap);
}

bool evzk__session_forked(const struct evzk__core *s)
{
    return s->pid != evzk__pid();
}

int64_t evzk__call_out(struct evzk__core *s)
{
    s->out++;
    return evzk__now_us();
}

void evzk__called(struct evzk__core *s, int64_t begun)
{
    s->out--;
    s->out_us += evzk__now_us() - begun;
}

void evzk__session_kick(struct evzk__core *s)
{
    if (s->turn == EVZK__NO_TURN && !evzk__session_forked(s)) {
        s->turn = EVZK__TURN_ASKED;
        evzk__timer_set(s->timer, 0);
    }
}

bool evzk__session_usable(const struct evzk__core *s)
{
    return evzk__session_up(s) && s->client &&
           evzk__client_state(s->client) == EVZK__CLIENT_UP;
}

/* The result is in milliseconds: less than one counts as none. */
int64_t evzk__session_left_ms(const struct evzk__core *s)
{
    int64_t left = s->lease.valid_until - evzk__now_us();

    return s->phase == EVZK__RUNNING && left > 0 ? left / 1000 : 0;
}

bool evzk__session_sure(const struct evzk__core *s)
{
    return evzk__session_left_ms(s) > 0;
}

bool evzk__session_certain(const struct evzk__core *s)
{
    return s->contact == EVZK__IN_CONTACT && evzk__session_sure(s);
}

bool evzk__budget_spent(unsigned n, int64_t until)
{
    return evzk__is_late(n, 8, until);
}

/* The same, as a moment: from then on nothing is left. */
static int64_t deadline(const struct evzk__core *s)
{
    return s->lease.valid_until - 999;
}

struct evzk__term *evzk__session_term(struct evzk__core *s)
{
    if (!s->term)
        s->term = evzk__term_new(deadline(s));
    return s->term;
}

void evzk__session_show_lease(struct evzk__core *s)
{
    evzk__term_renew(s->term, deadline(s));
}
