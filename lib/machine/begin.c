/* How the public objects of all recipes begin and are canceled. */
#include "lib/machine/machine.h"
#include "lib/machine/refuse.h"

bool evzk__broken_start(const struct evzk__call *call, const evzk_session *s,
                        const char *path, bool has_cb, bool has_out)
{
    return evzk__broken(call, s, "session", EVZK__NOT_NULL) ||
           evzk__broken_path(call, "path", path) ||
           evzk__broken(call, has_cb, "cb", EVZK__NOT_NULL) ||
           evzk__broken(call, has_out, "out", EVZK__NOT_NULL);
}

int evzk__machine_begin(struct evzk__machine *m, evzk_session *s,
                        const struct evzk__kind *kind, const char *dir,
                        uint32_t timeout_ms)
{
    int rc = evzk__machine_init(m, s, kind, dir, timeout_ms);

    if (rc != EVZK_OK)
        kind->destroy(m);
    return rc;
}

int evzk__machine_cancel(struct evzk__machine *m)
{
    if (evzk__machine_in_child(m))
        return EVZK_ERR_FORKED;
    if (m->place.ended || m->stopping)
        return EVZK_ERR_STATE;
    evzk__machine_stop(m, EVZK_ERR_CANCELED);
    return EVZK_OK;
}
