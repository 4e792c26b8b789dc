/* What requests and machines may ask of the session that they belong to. */
#include "lib/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/os.h"

enum { PAUSE_US = 100000 };

void evzk__requests_pause(evzk_session *s)
{
    s->send_at = evzk__now_us() + PAUSE_US;
}

void evzk__session_log(evzk_session *s, evzk_log_level level, const char *fmt,
                       ...)
{
    char line[1024];
    va_list ap;

    if (!s->log || level > s->log_level)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    s->log(level, line, s->log_arg);
}

bool evzk__session_forked(const evzk_session *s)
{
    return s->pid != evzk__pid();
}

int evzk__session_check(const evzk_session *s)
{
    if (evzk__session_forked(s))
        return EVZK_ERR_FORKED;
    return s->phase == EVZK__RUNNING ? EVZK_OK : EVZK_ERR_CLOSED;
}

void evzk__session_kick(evzk_session *s)
{
    if (!s->in_turn && !s->kicked && !evzk__session_forked(s)) {
        s->kicked = true;
        evzk__timer_set(s->timer, 0);
    }
}

bool evzk__session_usable(const evzk_session *s)
{
    return s->up && s->client &&
           evzk__client_state(s->client) == EVZK__CLIENT_UP;
}

/* It is told in milliseconds: less than one left is nothing. */
int64_t evzk__session_left_ms(const evzk_session *s)
{
    int64_t left = s->lease.valid_until - evzk__now_us();

    return s->phase == EVZK__RUNNING && left > 0 ? left / 1000 : 0;
}

bool evzk__session_sure(const evzk_session *s)
{
    return evzk__session_left_ms(s) > 0;
}

bool evzk__session_certain(const evzk_session *s)
{
    return s->up && !s->doubt && evzk__session_sure(s);
}

bool evzk__budget_spent(unsigned n, int64_t until)
{
    return n % 8 == 7 && evzk__now_us() >= until;
}
