/* The events of two-phase commit, and the verdicts, as words. */
#include "evzk/two_phase.h"

const char *evzk_tx_verdict_name(evzk_tx_verdict verdict)
{
    switch (verdict) {
    case EVZK_TX_NONE:
        return "NONE";
    case EVZK_TX_COMMIT:
        return "COMMIT";
    case EVZK_TX_ABORT:
        return "ABORT";
    }
    return "?";
}

const char *evzk_tx_event_name(evzk_tx_event event)
{
    switch (event) {
    case EVZK_TX_BEGUN:
        return "BEGUN";
    case EVZK_TX_VOTE:
        return "VOTE";
    case EVZK_TX_DECIDED:
        return "DECIDED";
    case EVZK_TX_FINISHED:
        return "FINISHED";
    case EVZK_TX_FAILED:
        return "FAILED";
    case EVZK_TX_REFUSED:
        return "REFUSED";
    }
    return "?";
}

bool evzk_tx_event_is_final(evzk_tx_event event)
{
    return event == EVZK_TX_FINISHED || event == EVZK_TX_FAILED;
}

const char *evzk_site_event_name(evzk_site_event event)
{
    switch (event) {
    case EVZK_SITE_QUESTION:
        return "QUESTION";
    case EVZK_SITE_VOTED:
        return "VOTED";
    case EVZK_SITE_DECIDED:
        return "DECIDED";
    case EVZK_SITE_FINISHED:
        return "FINISHED";
    case EVZK_SITE_FAILED:
        return "FAILED";
    case EVZK_SITE_ENDED:
        return "ENDED";
    }
    return "?";
}

bool evzk_site_event_is_final(evzk_site_event event)
{
    return event == EVZK_SITE_ENDED;
}
