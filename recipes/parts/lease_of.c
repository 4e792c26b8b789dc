/* The lease of what a machine has been granted: made when it is asked for
 * first, and the same as long as the grant stands.
 *
 * How it can fail.  A recipe that does not end its lease when the grant ends
 * lets other threads write: the lease itself knows of the session alone. */
#include "recipes/parts/lease_of.h"

#include "lib/base/view.h"
#include "lib/machine/refuse.h"

int evzk__lease_of(struct evzk__machine *m, const char *function, bool held,
                   uint64_t token, evzk_lease **own, evzk_lease **out)
{
    struct evzk__call call =
        evzk__call_of(m ? evzk__machine_session(m) : NULL, function);
    struct evzk__term *term;

    if (!m || evzk__broken(&call, out, "out", EVZK__NOT_NULL))
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(m))
        return EVZK_ERR_FORKED;
    if (!held)
        return EVZK_ERR_STATE;
    term = evzk__machine_term(m);
    if (term && !*own)
        *own = evzk__view_new(term, token);
    if (!term || !*own)
        return EVZK_ERR_NOMEM;
    *out = evzk_lease_ref(*own);
    return EVZK_OK;
}
