/* What the diagrams call events, and what a reply means that leads along an
 * arrow: the table knows where it leads, and not why.  A line that is of
 * nothing in the tables makes evzk-diagram fail. */
#include "tools/diagram.h"

#include <stdio.h>
#include <string.h>

static const char *const usual[EVZK__CAUSES] = {
    [EVZK__ON_REPLY] = "reply",
    [EVZK__ON_OWN_DELETED] = "own znode deleted",
    [EVZK__ON_OWN_CHANGED] = "own znode changed",
    [EVZK__ON_PRED_DELETED] = "predecessor gone",
    [EVZK__ON_PRED_CHANGED] = "predecessor changed",
    [EVZK__ON_PATH_DELETED] = "watched znode deleted",
    [EVZK__ON_PATH_CHANGED] = "watched znode changed",
    [EVZK__ON_LINGERED] = "after a while",
    [EVZK__ON_USER_EVENT] = "user event",
    [EVZK__ON_SUSPENDED] = "doubt",
    [EVZK__ON_LEASE_END] = "lease ended",
    [EVZK__ON_ENTRY] = "at once",
    [EVZK__ON_STOP] = "stop"};

/* Of kinds that mean something else by them. */
static const struct {
    const char *kind;
    enum evzk__cause cause;
    const char *words;
} events[] = {
    {"election", EVZK__ON_USER_EVENT, "acknowledged"},
    {"lock-revoke", EVZK__ON_PRED_DELETED, "contender gone"},
    {"lock-revoke", EVZK__ON_PRED_CHANGED, "its children changed"},
    {"lock-revoke", EVZK__ON_USER_EVENT, "grace time over"},
    {"observer", EVZK__ON_OWN_DELETED, "leader deleted"},
    {"observer", EVZK__ON_OWN_CHANGED, "leader changed"},
    {"observer", EVZK__ON_PRED_DELETED, "candidate gone"},
    {"observer", EVZK__ON_PRED_CHANGED, "candidate's children changed"},
    {"shards-planner", EVZK__ON_PRED_DELETED, "no members any more"},
    {"shards-planner", EVZK__ON_PRED_CHANGED, "members changed"},
    {"shards-planner", EVZK__ON_USER_EVENT, "time to look again"},
    {"watch-node", EVZK__ON_OWN_DELETED, "znode deleted"},
    {"watch-node", EVZK__ON_OWN_CHANGED, "znode changed"},
    {"watch-node", EVZK__ON_PRED_DELETED, "its folder deleted"},
    {"watch-node", EVZK__ON_PRED_CHANGED, "children changed"},
};

enum { EVENTS = sizeof events / sizeof events[0] };

const char *diagram_event(const struct evzk__kind *k, int cause)
{
    for (int i = 0; i < EVENTS; i++) {
        if ((int)events[i].cause == cause &&
            strcmp(events[i].kind, k->name) == 0)
            return events[i].words;
    }
    return usual[cause];
}

#define QUEUE "lock", "election"

/* clang-format off */
static const struct {
    const char *kinds[2]; /* Of these; the second may be NULL. */
    const char *from, *to, *words;
} replies[] = {
    {{QUEUE}, "CREATING", "LISTING", "created"},
    {{QUEUE}, "CREATING", "MAKING_PARENTS", "no directory"},
    {{QUEUE}, "CREATING", "RESOLVING", "lost: created or not?"},
    {{QUEUE}, "MAKING_PARENTS", "CREATING", "made"},
    {{QUEUE}, "RESOLVING", "CREATING", "not created"},
    {{QUEUE}, "RESOLVING", "ADOPTING", "its GUID is there"},
    {{QUEUE}, "ADOPTING", "RESOLVING", "not its own"},
    {{QUEUE}, "ADOPTING", "LISTING", "its own"},
    {{QUEUE}, "LISTING", "WATCHING", "not the first"},
    {{QUEUE}, "LISTING", "CONFIRMING", "first, in doubt"},
    {{"lock"}, "LISTING", "HELD", "first"},
    {{QUEUE}, "WATCHING", "LISTING", "it has gone"},
    {{"lock"}, "CONFIRMING", "HELD", "own znode is there"},
    {{"election"}, "LISTING", "ELECTED", "first"},
    {{"election"}, "CONFIRMING", "ELECTED", "own znode is there"},

    {{"lock"}, "CREATING", "PRIO_LISTING", "created"},
    {{"lock"}, "CREATING", "PRIO_WATCHING", "created: not the first"},
    {{"lock"}, "CREATING", "ENTERING", "created: the first"},
    {{"lock"}, "ADOPTING", "PRIO_LISTING", "its own"},
    {{"lock"}, "PRIO_LISTING", "PRIO_WATCHING", "not the first"},
    {{"lock"}, "PRIO_LISTING", "PRIO_CONFIRMING", "first"},
    {{"lock"}, "PRIO_LISTING", "ENTERING", "first, and sure"},
    {{"lock"}, "PRIO_WATCHING", "PRIO_LISTING", "it has gone"},
    {{"lock"}, "PRIO_CONFIRMING", "ENTERING", "own znode is there"},
    {{"lock"}, "PRIO_CONFIRMING", "PRIO_LISTING", "somebody wrote to it"},
    {{"lock"}, "READING_OWN", "PRIO_LISTING", "read"},
    {{"lock"}, "ENTERING", "READING_OWN", "somebody wrote to it"},
    {{"lock"}, "ENTERING", "RESOLVING_ENTRY", "lost: done or not?"},
    {{"lock"}, "RESOLVING_ENTRY", "ADOPTING_ENTRY", "its GUID is there"},
    {{"lock"}, "RESOLVING_ENTRY", "PRIO_LISTING", "not done"},
    {{"lock"}, "ADOPTING_ENTRY", "LISTING", "its own"},
    {{"lock"}, "ADOPTING_ENTRY", "RESOLVING_ENTRY", "not its own"},
    {{"lock"}, "ENTERING", "LISTING", "in the queue"},

    {{"lock"}, "VERIFYING", "HELD", "own znode is there"},
    {{"lock"}, "CHECKING_WRITER", "SWAPPING", "own znode is there"},
    {{"lock"}, "SWAPPING", "HELD", "done, or refused"},
    {{"lock"}, "SWAPPING", "VERIFYING", "the same, in doubt"},
    {{"lock"}, "SWAPPING", "CHECKING_READER", "own znode not there"},
    {{"lock"}, "SWAPPING", "CHECKING_WRITER", "somebody wrote to it"},
    {{"lock"}, "CHECKING_SWAP", "SWAPPING_AGAIN", "not done yet"},
    {{"lock"}, "CHECKING_SWAP", "CHECKING_READER", "done, or lost"},
    {{"lock"}, "SWAPPING_AGAIN", "VERIFYING", "the same, in doubt"},
    {{"lock"}, "SWAPPING_AGAIN", "CHECKING_READER", "own znode not there"},
    {{"lock"}, "CHECKING_READER", "HELD", "it was done"},
    {{"election"}, "SETTLING_LEADER", "CHECKING_LEADER", "settled"},
    {{"election"}, "CHECKING_LEADER", "DELETING", "there, or not"},
    {{"election"}, "VERIFYING", "ELECTED", "own znode is there"},
    {{"election"}, "CHECKING_ELECTED", "ANNOUNCING", "own znode is there"},
    {{"election"}, "ANNOUNCING", "LEADING", "announced"},
    {{"election"}, "ANNOUNCING", "VERIFYING_LEADER", "announced, in doubt"},
    {{"election"}, "ANNOUNCING", "CHECKING_RIVAL", "a leader znode is there"},
    {{"election"}, "ANNOUNCING", "CHECKING_LEADING", "its own is there"},
    {{"election"}, "VERIFYING_LEADER", "LEADING", "own znode is there"},
    {{"election"}, "CHECKING_RIVAL", "REPLACING", "own znode is there"},
    {{"election"}, "REPLACING", "LEADING", "replaced"},
    {{"election"}, "REPLACING", "ELECTED", "refused"},
    {{"election"}, "REPLACING", "VERIFYING_LEADER", "replaced, in doubt"},
    {{"election"}, "REPLACING", "ANNOUNCING", "it has gone"},
    {{"election"}, "REPLACING", "CHECKING_RIVAL", "another is there"},
    {{"election"}, "CHECKING_LEADING", "REANNOUNCING", "own znode is there"},
    {{"election"}, "REANNOUNCING", "LEADING", "replaced, or refused"},
    {{"election"}, "REANNOUNCING", "VERIFYING_LEADER", "the same, in doubt"},
    {{"election"}, "REANNOUNCING", "ANNOUNCING", "it has gone"},
    {{"election"}, "REANNOUNCING", "CHECKING_LEADING", "another is there"},
    {{QUEUE}, "CHECKING", "DELETING", "its own"},
    {{QUEUE}, "CHECKING", "ENDED", "not its own"},
    {{QUEUE}, "DELETING", "ENDED", "deleted"},

    {{"lock"}, "LISTING", "HELD", "first"},
    {{"lock"}, "CONFIRMING", "HELD", "own znode is there"},
    {{"lock-query"}, "LISTING", "READING", "contenders"},
    {{"lock-query"}, "LISTING", "ROOTING", "no directory: is the chroot there?"},
    {{"lock-query"}, "LISTING", "ENDED", "nobody"},
    {{"lock-query"}, "ROOTING", "ENDED", "it is"},
    {{"lock-query"}, "READING", "LISTING", "lost"},
    {{"lock-query"}, "READING", "ENDED", "all are read"},

    {{"lock-revoke"}, "LISTING", "READING", "somebody is in the way"},
    {{"lock-revoke"}, "LISTING", "ROOTING", "no directory: is the chroot there?"},
    {{"lock-revoke"}, "LISTING", "ENDED", "nobody is in the way"},
    {{"lock-revoke"}, "READING", "ASKING", "all are read"},
    {{"lock-revoke"}, "ASKING", "READING", "changed meanwhile, or lost"},
    {{"lock-revoke"}, "ASKING", "WAITING", "all are asked"},
    {{"lock-revoke"}, "ROOTING", "ENDED", "it is"},

    {{"observer"}, "LOOKING", "CHECKING", "a leader"},
    {{"observer"}, "LOOKING", "WATCHING", "no leader"},
    {{"observer"}, "LOOKING", "ROOTING", "no leader: is the chroot there?"},
    {{"observer"}, "ROOTING", "WATCHING", "it is"},
    {{"observer"}, "CHECKING", "WATCHING", "candidate there, or not"},

    {{"watch-node"}, "LOOKING", "WATCHING", "there, or not"},

    {{"write-once"}, "WRITING", "ENDED", "written"},

    {{"shards-planner"}, "LISTING", "READING", "members"},
    {{"shards-planner"}, "READING", "WATCHING", "the plan is right"},
    {{"shards-planner"}, "READING", "SETTLING", "another plan, not at once"},
    {{"shards-planner"}, "READING", "WRITING", "another plan"},
    {{"shards-planner"}, "READING", "LISTING", "lost"},
    {{"shards-planner"}, "WRITING", "WATCHING", "written"},
    {{"shards-planner"}, "WRITING", "LISTING", "somebody else wrote"},
};
/* clang-format on */

enum { REPLIES = sizeof replies / sizeof replies[0] };

static bool is_of(int i, const char *kind)
{
    const char *const *kinds = replies[i].kinds;

    return strcmp(kinds[0], kind) == 0 ||
           (kinds[1] && strcmp(kinds[1], kind) == 0);
}

const char *diagram_reply(const char *kind, const char *from, const char *to)
{
    for (int i = 0; i < REPLIES; i++) {
        if (is_of(i, kind) && strcmp(replies[i].from, from) == 0 &&
            strcmp(replies[i].to, to) == 0)
            return replies[i].words;
    }
    return NULL;
}

static bool is_there(const struct evzk__kind *k, int i)
{
    int from = diagram_row(k, replies[i].from),
        to = diagram_row(k, replies[i].to);

    return from >= 0 && to >= 0 && diagram_has_arrow(k, from, to);
}

static int check_replies(const struct evzk__kind *k)
{
    int n = 0;

    for (int i = 0; i < REPLIES; i++) {
        if (!is_of(i, k->name) || is_there(k, i))
            continue;
        n++;
        fprintf(stderr,
                "tools/diagram-words.c: %s has no arrow from %s to %s: take "
                "that line out, or correct it\n",
                k->name, replies[i].from, replies[i].to);
    }
    return n;
}

static bool is_heard(const struct evzk__kind *k, enum evzk__cause cause)
{
    for (int i = 0; i < k->n_rows; i++) {
        if (evzk__row_may(k, i, cause))
            return true;
    }
    return false;
}

int diagram_check_words(const struct evzk__kind *k)
{
    int n = check_replies(k);

    for (int i = 0; i < EVENTS; i++) {
        if (strcmp(events[i].kind, k->name) != 0 ||
            is_heard(k, events[i].cause))
            continue;
        n++;
        fprintf(stderr,
                "tools/diagram-words.c: %s hears no %s: take that line out\n",
                k->name, evzk__cause_name[events[i].cause]);
    }
    return n;
}
