/* Names of the events of a handle, and which of them are final. */
#include "evzk/chubby.h"

const char *evzk_chubby_event_name(evzk_chubby_event event)
{
    switch (event) {
    case EVZK_CHUBBY_OPENED:
        return "OPENED";
    case EVZK_CHUBBY_CONTENTS_CHANGED:
        return "CONTENTS_CHANGED";
    case EVZK_CHUBBY_CHILD_ADDED:
        return "CHILD_ADDED";
    case EVZK_CHUBBY_CHILD_REMOVED:
        return "CHILD_REMOVED";
    case EVZK_CHUBBY_CHILD_CHANGED:
        return "CHILD_CHANGED";
    case EVZK_CHUBBY_LOCK_ACQUIRED:
        return "LOCK_ACQUIRED";
    case EVZK_CHUBBY_CONFLICT:
        return "CONFLICT";
    case EVZK_CHUBBY_LOCK_LOST:
        return "LOCK_LOST";
    case EVZK_CHUBBY_JEOPARDY:
        return "JEOPARDY";
    case EVZK_CHUBBY_SAFE:
        return "SAFE";
    case EVZK_CHUBBY_INVALID:
        return "INVALID";
    case EVZK_CHUBBY_CLOSED:
        return "CLOSED";
    case EVZK_CHUBBY_ENDED:
        return "ENDED";
    }
    return "?";
}

bool evzk_chubby_event_is_final(evzk_chubby_event event)
{
    return event >= EVZK_CHUBBY_CLOSED && event <= EVZK_CHUBBY_ENDED;
}
