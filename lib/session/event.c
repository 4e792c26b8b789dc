/* Names of events, and which of them are final.  A switch without a default,
 * and a test that asks for every number: so none is left out. */
#include "evzk/election.h"
#include "evzk/lock.h"
#include "evzk/shards.h"

#define NAME(prefix, name)                                                     \
    case prefix##name:                                                         \
        return #name;

const char *evzk_session_event_name(evzk_session_event event)
{
#define N(name) NAME(EVZK_SESSION_, name)
    switch (event) {
        N(CONNECTED)
        N(SUSPENDED)
        N(RESUMED)
        N(EXPIRED)
        N(CLOSED)
    }
#undef N
    return "?";
}

bool evzk_session_event_is_final(evzk_session_event event)
{
    return event == EVZK_SESSION_CLOSED;
}

const char *evzk_lock_event_name(evzk_lock_event event)
{
#define N(name) NAME(EVZK_LOCK_, name)
    switch (event) {
        N(GRANTED)
        N(SUSPENDED)
        N(RESUMED)
        N(REQUEUED)
        N(DOWNGRADED)
        N(REVOKE_REQUESTED)
        N(RELEASED)
        N(LOST)
        N(FAILED)
    }
#undef N
    return "?";
}

bool evzk_lock_event_is_final(evzk_lock_event event)
{
    return event == EVZK_LOCK_RELEASED || event == EVZK_LOCK_LOST ||
           event == EVZK_LOCK_FAILED;
}

const char *evzk_election_event_name(evzk_election_event event)
{
#define N(name) NAME(EVZK_ELECTION_, name)
    switch (event) {
        N(ELECTED)
        N(LEADING)
        N(SUSPENDED)
        N(RESUMED)
        N(REQUEUED)
        N(RESIGN_REQUESTED)
        N(RESIGNED)
        N(LOST)
        N(FAILED)
    }
#undef N
    return "?";
}

bool evzk_election_event_is_final(evzk_election_event event)
{
    return event == EVZK_ELECTION_RESIGNED || event == EVZK_ELECTION_LOST ||
           event == EVZK_ELECTION_FAILED;
}

const char *evzk_shards_event_name(evzk_shards_event event)
{
#define N(name) NAME(EVZK_SHARDS_, name)
    switch (event) {
        N(PLANNED)
        N(BALANCED)
        N(DRAINED)
        N(FAILED)
    }
#undef N
    return "?";
}

bool evzk_shards_event_is_final(evzk_shards_event event)
{
    return event == EVZK_SHARDS_DRAINED || event == EVZK_SHARDS_FAILED;
}

const char *evzk_revoked_how_name(evzk_revoked_how how)
{
#define N(name) NAME(EVZK_REVOKED_, name)
    switch (how) {
        N(STAYS)
        N(YIELDED)
        N(REMOVED)
    }
#undef N
    return "?";
}
