/* What a session is at the moment: sure, in doubt, ended; and who is told.
 *
 * The lease of the session is shown to other threads, too: see lib/base/view.c.
 */
#include "lib/session/closing.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/base/view.h"
#include "lib/machine/machine.h"
#include "lib/request/idle_dirs.h"
#include "lib/request/parents.h"
#include "lib/request/transaction.h"
#include "lib/session/connection.h"
#include "lib/session/servers.h"

void evzk__closing_over(evzk_session *s, int rc)
{
    s->phase = EVZK__SWEEPING;
    evzk__session_end_term(s);
    s->close_rc = rc;
    evzk__servers_cancel(s->servers);
    s->more = true;
}

void evzk__session_tell(evzk_session *s, evzk_session_event ev, int rc)
{
    int64_t begun = evzk__now_us();

    if (ev == EVZK_SESSION_SUSPENDED && !s->told_up)
        return; /* It has heard so already, or was never up. */
    if (ev != EVZK_SESSION_CLOSED && !evzk__session_tells(s))
        return; /* Closed inside an earlier callback of this loop step. */
    s->told_up = ev == EVZK_SESSION_CONNECTED || ev == EVZK_SESSION_RESUMED;
    if (s->cb)
        s->cb(s, ev, rc, s->cb_arg);
    s->out_us += evzk__now_us() - begun;
}

void evzk__session_end_term(evzk_session *s)
{
    evzk__term_end(s->term);
    s->term = NULL;
}

/* Has every machine look at what has changed. */
void evzk__session_sweep(evzk_session *s)
{
    s->round++;
    s->cursor = TAILQ_FIRST(&s->machines);
}

void evzk__session_set_doubt(evzk_session *s, bool doubt)
{
    if (s->doubt == doubt)
        return;
    s->doubt = doubt;
    evzk__session_sweep(s);
    evzk__session_tell(s, doubt ? EVZK_SESSION_SUSPENDED : EVZK_SESSION_RESUMED,
                       EVZK_OK);
}

/* A process that stood still may see the lease's end before any doubt: then the
 * session is in doubt first, so that its event comes before those of what it
 * holds. */
void evzk__session_update_lease(evzk_session *s)
{
    bool valid = evzk__session_sure(s);

    if (valid == s->lease_on || s->phase != EVZK__RUNNING)
        return;
    s->lease_on = valid;
    evzk__session_sweep(s);
    if (valid)
        return;
    evzk__session_end_term(s);
    s->lease_ends++;
    s->stats.lease_ends++;
    evzk__session_log(s, EVZK_LOG_WARN, "the lease ended");
    if (s->up)
        evzk__session_set_doubt(s, true);
}

static void free_credentials(evzk_session *s)
{
    struct evzk__credential *c;

    while ((c = STAILQ_FIRST(&s->credentials)) != NULL) {
        STAILQ_REMOVE_HEAD(&s->credentials, link);
        evzk__free(c->scheme);
        evzk__free(c->cert);
        evzk__free(c);
    }
}

void evzk__session_destroy(evzk_session *s)
{
    evzk__parents_clear(s);
    evzk__tidy_clear(s);
    evzk__batches_clear(s);
    evzk__client_free(s->client);
    evzk__client_free(s->old);
    if (s->root)
        evzk__dir_put(s, s->root);
    evzk__servers_free(s->servers);
    evzk__timer_free(s->timer);
    evzk__io_free(s->io);
    evzk__acl_free(&s->acl);
    free_credentials(s);
    evzk__session_end_term(s);
    evzk__free(s->chroot);
    evzk__free(s->data);
    evzk__free(s);
}

void evzk__session_unref(evzk_session *s)
{
    if (--s->refs == 0)
        evzk__session_destroy(s);
}
