/* The calls that the explorer makes at any time, on the first lock of a process
 * that is there.
 *
 * How it can fail: calls that are made over and over keep a run from its end.
 * So slots and look-ups are few, and what finds none does nothing. */
#include "processes.h"
#include "scene_lock.h"

const char *const lock_calls[] = {
    "release",      "cancel",     "free",     "acquire",
    "query",        "free-query", "add-auth", "close-session",
    "free-session", "downgrade",  "revoke",   "cancel-revoke",
    "free-revoke",  NULL};

enum call {
    RELEASE,
    CANCEL,
    FREE,
    ACQUIRE,
    QUERY,
    FREE_QUERY,
    AUTH,
    CLOSE,
    FREE_SESSION,
    DOWNGRADE,
    REVOKE,
    CANCEL_REVOKE,
    FREE_REVOKE
};

static struct lock_slot *first_of(int proc)
{
    struct lock_slot *k = lock_world.slot;

    for (; k < lock_world.slot + lock_world.slots; k++) {
        if (k->proc == proc && k->l)
            return k;
    }
    return NULL;
}

static bool add_auth(int proc)
{
    const struct process *p = process_of(proc);
    int rc;

    if (!p->s)
        return false;
    process_call_begins(proc);
    rc = evzk_session_add_auth(p->s, "digest", "who:secret", 10);
    process_call_ends(proc);
    if (rc != EVZK_OK && !(rc == EVZK_ERR_CLOSED && p->closing) &&
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
        sim_violation("p%d: add_auth gave %s", proc, evzk_errname(rc));
    return true;
}

static bool on_lock(struct lock_slot *k, enum call what)
{
    if (!k)
        return false;
    if (what == RELEASE)
        lock_release(k);
    else if (what == CANCEL)
        lock_cancel(k);
    else if (what == DOWNGRADE)
        lock_downgrade(k);
    else
        lock_free(k);
    return true;
}

static bool start(int proc)
{
    static const struct lock_plan alone = {.hold_ms = 10},
                                  shared = {.hold_ms = 10,
                                            .mode = EVZK_LOCK_WRITE};
    const struct lock_scene *sc = lock_world.sc;
    bool by_mode = sc->dialect == EVZK_DIALECT_CURATOR &&
                   sc->locks[0].mode != EVZK_LOCK_EXCLUSIVE;

    if (!process_of(proc)->s || lock_world.slots == LOCK_SLOTS)
        return false;
    /* May well be refused. */
    (void)lock_start(proc, by_mode ? &shared : &alone);
    return true;
}

static bool on_session(int proc, enum call what)
{
    if (!process_of(proc)->s)
        return false;
    if (what == CLOSE)
        process_close(proc);
    else
        process_free(proc);
    return true;
}

bool lock_call(int proc, unsigned which)
{
    static const struct lock_revoke_plan rough = {.remove = true,
                                                  .grace_ms = 30};

    switch ((enum call)which) {
    case RELEASE:
    case CANCEL:
    case FREE:
    case DOWNGRADE:
        return on_lock(first_of(proc), (enum call)which);
    case ACQUIRE:
        return start(proc);
    case QUERY:
        return lock_ask(proc);
    case FREE_QUERY:
        return lock_ask_free(proc);
    case AUTH:
        return add_auth(proc);
    case REVOKE:
        return lock_revoke(proc, &rough);
    case CANCEL_REVOKE:
        return lock_revoke_cancel(proc);
    case FREE_REVOKE:
        return lock_revoke_free(proc);
    case CLOSE:
    case FREE_SESSION:
        return on_session(proc, (enum call)which);
    }
    return false;
}
