/* What a recipe may ask about its session, and about the session's other
 * contenders.  Recipes use nothing below the machine; see tests/check-layers.
 */
#include "lib/machine/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/loop.h"
#include "lib/base/name.h"
#include "lib/base/os.h"
#include "lib/request/core.h"
#include "lib/request/own_queue.h"
#include "lib/request/watch.h"

int evzk__may_begin(const evzk_session *session)
{
    const struct evzk__core *s = evzk__core_of(session);

    if (evzk__session_forked(s))
        return EVZK_ERR_FORKED;
    return s->phase == EVZK__RUNNING ? EVZK_OK : EVZK_ERR_CLOSED;
}

bool evzk__may_tell(const evzk_session *s)
{
    return evzk__session_tells(evzk__core_of(s));
}

void evzk__session_keep(evzk_session *s) { evzk__core_of(s)->refs++; }

void evzk__session_let_go(evzk_session *s)
{
    evzk__core_unref(evzk__core_of(s));
}

void evzk__resident_enter(evzk_session *s, struct evzk__resident *r,
                          void (*closed)(struct evzk__resident *r))
{
    r->closed = closed;
    LIST_INSERT_HEAD(&evzk__core_of(s)->residents, r, link);
}

void evzk__resident_leave(struct evzk__resident *r)
{
    if (r->closed)
        LIST_REMOVE(r, link);
    r->closed = NULL;
}

struct evzk__timer *evzk__session_timer(evzk_session *s, void (*fire)(void *),
                                        void *arg)
{
    return evzk__timer_new(evzk__core_of(s)->base, fire, arg);
}

const char *evzk__machine_path(const struct evzk__machine *m)
{
    return m->place.dir->path + strlen(m->place.s->chroot);
}

size_t evzk__path_bytes(const evzk_session *s, const char *path)
{
    return strlen(evzk__core_of(s)->chroot) + strlen(path);
}

size_t evzk__acl_bytes(const evzk_session *s, const evzk_acl *acl, size_t n)
{
    enum { ENTRY = 12 }; /* Permissions, and two lengths. */
    const struct evzk__acl *own = &evzk__core_of(s)->acl;
    size_t bytes = 0;

    if (!acl) {
        acl = own->v;
        n = own->n;
    }
    for (size_t i = 0; i < n; i++)
        bytes += ENTRY + strlen(acl[i].scheme) + strlen(acl[i].id);
    return bytes;
}

bool evzk__machine_owns(const struct evzk__machine *m,
                        const struct evzk__stat *stat)
{
    return stat->owner == m->place.s->id;
}

bool evzk__machine_outlives(const struct evzk__machine *m)
{
    return m->seen.session_no != m->place.s->now.session_no;
}

int evzk__machine_session_tag(const struct evzk__machine *m,
                              char out[EVZK__TAG_LEN + 1])
{
    struct evzk__core *s = m->place.s;

    if (!s->tag[0] && evzk__guid(s->tag) != EVZK_OK) {
        s->tag[0] = '\0';
        return EVZK_ERR_INTERNAL;
    }
    snprintf(out, EVZK__TAG_LEN + 1, "%s-%05u", s->tag,
             (unsigned)s->now.session_no);
    return EVZK_OK;
}

void evzk__machine_note(struct evzk__machine *m, bool known)
{
    m->place.dir->noted = known;
}

bool evzk__machine_noted(const struct evzk__machine *m)
{
    return m->place.dir->noted;
}

int64_t evzk__machine_until_us(void)
{
    return evzk__now_us() + EVZK__BUDGET_US;
}

bool evzk__machine_time_spent(unsigned n, int64_t until_us)
{
    return evzk__budget_spent(n, until_us);
}

/* The session is NULL for a machine of which nothing is left there. */
int64_t evzk__machine_call_out(evzk_session *s)
{
    return s ? evzk__call_out(evzk__core_of(s)) : 0;
}

void evzk__machine_called(evzk_session *s, int64_t begun)
{
    if (s)
        evzk__called(evzk__core_of(s), begun);
}

int64_t evzk__machine_call_in(evzk_session *s)
{
    evzk__core_of(s)->out--;
    return evzk__now_us();
}

void evzk__machine_called_in(evzk_session *s, int64_t begun)
{
    evzk__core_of(s)->out++;
    evzk__core_of(s)->out_us -= evzk__now_us() - begun;
}

void evzk__machine_fired(struct evzk__machine *m, enum evzk__which which,
                         enum evzk__watch_event ev)
{
    evzk__watch_heard(&m->place, which, ev);
}

bool evzk__machine_in_child(const struct evzk__machine *m)
{
    return !m->place.ended && evzk__session_forked(m->place.s);
}

bool evzk__machine_certain(const struct evzk__machine *m)
{
    return evzk__session_certain(m->place.s);
}

uint32_t evzk__machine_window(const struct evzk__machine *m)
{
    return m->place.s->window;
}

bool evzk__machine_is_behind(const struct evzk__machine *m)
{
    return m->seen.change_count != m->place.s->now.change_count;
}

void evzk__machine_hasten(struct evzk__machine *m) { evzk__machine_post(m); }

bool evzk__machine_is_on(const struct evzk__machine *m, uint16_t connection_no)
{
    return m->place.s->now.connection_no == connection_no;
}

bool evzk__machine_end_doubt(struct evzk__machine *m)
{
    bool ends = m->in_doubt && evzk__machine_certain(m);

    m->in_doubt = m->in_doubt && !ends;
    return ends;
}

struct evzk__term *evzk__machine_term(struct evzk__machine *m)
{
    return evzk__session_term(m->place.s);
}

void evzk__machine_pause(struct evzk__machine *m)
{
    evzk__requests_pause(m->place.s);
}

void evzk__log(evzk_session *s, evzk_log_level level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    evzk__session_vlog(evzk__core_of(s), level, fmt, ap);
    va_end(ap);
}

struct evzk__machine *evzk__place_before(struct evzk__machine *m)
{
    struct evzk__place *before = evzk__queue_before(&m->place);

    return before ? evzk__machine_of(before) : NULL;
}

void evzk__place_follow(struct evzk__machine *m, struct evzk__machine *before)
{
    evzk__queue_follow(&m->place, before ? &before->place : NULL);
}

void evzk__place_unfollow(struct evzk__machine *m)
{
    evzk__queue_unfollow(&m->place);
}

void evzk__place_seen(struct evzk__machine *m) { evzk__queue_seen(&m->place); }

bool evzk__place_guarded(struct evzk__machine *m)
{
    return evzk__queue_guarded(&m->place);
}
