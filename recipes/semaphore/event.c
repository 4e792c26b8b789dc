/* Names of the events of a semaphore, and which of them are final. */
#include "evzk/semaphore.h"

const char *evzk_semaphore_event_name(evzk_semaphore_event event)
{
    switch (event) {
    case EVZK_SEMAPHORE_ACQUIRED:
        return "ACQUIRED";
    case EVZK_SEMAPHORE_SUSPENDED:
        return "SUSPENDED";
    case EVZK_SEMAPHORE_RESUMED:
        return "RESUMED";
    case EVZK_SEMAPHORE_REQUEUED:
        return "REQUEUED";
    case EVZK_SEMAPHORE_RELEASED:
        return "RELEASED";
    case EVZK_SEMAPHORE_LOST:
        return "LOST";
    case EVZK_SEMAPHORE_FAILED:
        return "FAILED";
    }
    return "?";
}

bool evzk_semaphore_event_is_final(evzk_semaphore_event event)
{
    return event >= EVZK_SEMAPHORE_RELEASED && event <= EVZK_SEMAPHORE_FAILED;
}
