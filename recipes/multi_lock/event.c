/* Names of the events of a multi-lock, and which of them are final. */
#include "evzk/multi_lock.h"

const char *evzk_multi_lock_event_name(evzk_multi_lock_event event)
{
    switch (event) {
    case EVZK_MULTI_LOCK_GRANTED:
        return "GRANTED";
    case EVZK_MULTI_LOCK_SUSPENDED:
        return "SUSPENDED";
    case EVZK_MULTI_LOCK_RESUMED:
        return "RESUMED";
    case EVZK_MULTI_LOCK_REQUEUED:
        return "REQUEUED";
    case EVZK_MULTI_LOCK_RELEASED:
        return "RELEASED";
    case EVZK_MULTI_LOCK_LOST:
        return "LOST";
    case EVZK_MULTI_LOCK_FAILED:
        return "FAILED";
    }
    return "?";
}

bool evzk_multi_lock_event_is_final(evzk_multi_lock_event event)
{
    return event >= EVZK_MULTI_LOCK_RELEASED && event <= EVZK_MULTI_LOCK_FAILED;
}
