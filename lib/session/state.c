/* The state of a session (sure, in doubt, ended), and its events.
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
#include "lib/request/look.h"
#include "lib/request/parents.h"
#include "lib/request/transaction.h"
#include "lib/session/connection.h"
#include "lib/session/servers.h"

void evzk__closing_over(evzk_session *s, int rc)
{
    s->core.phase = EVZK__ENDING_MACHINES;
    evzk__session_end_term(s);
    s->closing.rc = rc;
    evzk__servers_cancel(s->connection.servers);
    s->core.more = true;
}

void evzk__session_tell(evzk_session *s, evzk_session_event ev, int rc)
{
    int64_t begun;

    if (ev == EVZK_SESSION_SUSPENDED && !s->told.up)
        return; /* Was told so already, or was never up. */
    if (ev != EVZK_SESSION_CLOSED && !evzk__session_tells(&s->core))
        return; /* Closed inside an earlier callback of this loop step. */
    s->told.up = ev == EVZK_SESSION_CONNECTED || ev == EVZK_SESSION_RESUMED;
    begun = evzk__call_out(&s->core);
    if (s->options.cb)
        s->options.cb(s, ev, rc, s->options.cb_arg);
    evzk__called(&s->core, begun);
}

void evzk__session_end_term(evzk_session *s)
{
    evzk__term_end(s->core.term);
    s->core.term = NULL;
}

/* Has every machine handle the session's latest change. */
void evzk__session_sweep(evzk_session *s)
{
    s->core.now.change_count++;
    s->core.cursor = TAILQ_FIRST(&s->core.machines);
}

void evzk__session_set_doubt(evzk_session *s, bool doubt)
{
    enum evzk__contact contact = doubt ? EVZK__IN_DOUBT : EVZK__IN_CONTACT;

    if (!evzk__session_up(&s->core) || s->core.contact == contact)
        return;
    s->core.contact = contact;
    evzk__session_sweep(s);
    evzk__session_tell(s, doubt ? EVZK_SESSION_SUSPENDED : EVZK_SESSION_RESUMED,
                       EVZK_OK);
}

/* A process that stood still may see the lease's end before any doubt: then the
 * session comes into doubt first, so that its event precedes those of its
 * locks. */
void evzk__session_update_lease(evzk_session *s)
{
    bool valid = evzk__session_sure(&s->core);

    if (valid == s->probe.lease_on || s->core.phase != EVZK__RUNNING)
        return;
    s->probe.lease_on = valid;
    evzk__session_sweep(s);
    if (valid)
        return;
    evzk__session_end_term(s);
    s->core.now.lease_ends++;
    s->core.stats.lease_ends++;
    evzk__session_log(&s->core, EVZK_LOG_WARN, "the lease ended");
    if (evzk__session_up(&s->core))
        evzk__session_set_doubt(s, true);
}

static void free_credentials(evzk_session *s)
{
    struct evzk__credential *c;

    while ((c = STAILQ_FIRST(&s->options.credentials)) != NULL) {
        STAILQ_REMOVE_HEAD(&s->options.credentials, link);
        evzk__free(c->scheme);
        evzk__free(c->cert);
        evzk__free(c);
    }
}

void evzk__session_destroy(struct evzk__core *core)
{
    evzk_session *s = evzk__session_of(core);

    evzk__parents_clear(&s->core);
    evzk__idle_dirs_clear(&s->core);
    evzk__looks_clear(&s->core);
    evzk__batches_clear(&s->core);
    evzk__client_free(s->core.client);
    evzk__client_free(s->core.old);
    if (s->probe.root)
        evzk__dir_put(&s->core, s->probe.root);
    evzk__servers_free(s->connection.servers);
    evzk__timer_free(s->core.timer);
    evzk__io_free(s->io);
    evzk__acl_free(&s->core.acl);
    free_credentials(s);
    evzk__session_end_term(s);
    evzk__free(s->core.chroot);
    evzk__free(s->core.data);
    evzk__free(s);
}
