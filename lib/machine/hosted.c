/* What a recipe may know of its session, and of the other contenders of that
 * session.  Recipes use nothing below the machine; see tests/check-layers. */
#include <stdarg.h>

#include "lib/machine/machine.h"

int evzk__may_begin(const evzk_session *s)
{
    if (evzk__session_forked(s))
        return EVZK_ERR_FORKED;
    return s->phase == EVZK__RUNNING ? EVZK_OK : EVZK_ERR_CLOSED;
}

bool evzk__machine_in_child(const struct evzk__machine *m)
{
    return !m->ended && evzk__session_forked(m->s);
}

bool evzk__machine_certain(const struct evzk__machine *m)
{
    return evzk__session_certain(m->s);
}

struct evzk__term *evzk__machine_term(struct evzk__machine *m)
{
    return evzk__session_term(m->s);
}

void evzk__machine_pause(struct evzk__machine *m)
{
    evzk__requests_pause(m->s);
}

void evzk__log(evzk_session *s, evzk_log_level level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    evzk__session_vlog(s, level, fmt, ap);
    va_end(ap);
}

struct evzk__machine *evzk__place_before(struct evzk__machine *m)
{
    return evzk__queue_before(m);
}

void evzk__place_follow(struct evzk__machine *m, struct evzk__machine *before)
{
    evzk__queue_follow(m, before);
}

void evzk__place_unfollow(struct evzk__machine *m) { evzk__queue_stray(m); }

void evzk__place_seen(struct evzk__machine *m) { evzk__queue_seen(m); }

bool evzk__place_guarded(struct evzk__machine *m)
{
    return evzk__queue_guarded(m);
}
