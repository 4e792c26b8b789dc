/* Names of the events of a double barrier, and which of them are final. */
#include "evzk/double_barrier.h"

const char *evzk_double_barrier_event_name(evzk_double_barrier_event event)
{
    switch (event) {
    case EVZK_DOUBLE_BARRIER_ENTERED:
        return "ENTERED";
    case EVZK_DOUBLE_BARRIER_SUSPENDED:
        return "SUSPENDED";
    case EVZK_DOUBLE_BARRIER_RESUMED:
        return "RESUMED";
    case EVZK_DOUBLE_BARRIER_LEFT:
        return "LEFT";
    case EVZK_DOUBLE_BARRIER_LOST:
        return "LOST";
    case EVZK_DOUBLE_BARRIER_FAILED:
        return "FAILED";
    }
    return "?";
}

bool evzk_double_barrier_event_is_final(evzk_double_barrier_event event)
{
    return event >= EVZK_DOUBLE_BARRIER_LEFT &&
           event <= EVZK_DOUBLE_BARRIER_FAILED;
}
