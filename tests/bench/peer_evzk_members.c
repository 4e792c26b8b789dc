/* Our own side of the comparison: members of one group join, and leave. */
#include "peer_evzk.h"

#include <stdio.h>
#include <stdlib.h>

static evzk_member **members;

static void leave(struct peer *p, size_t i)
{
    (void)p;
    peer_must(evzk_member_leave(members[i]), "leave");
}

static void on_member(evzk_member *member, evzk_member_event event, int rc,
                      void *arg)
{
    struct peer *p = arg;

    if (event == EVZK_MEMBER_JOINED && peer_granted(p))
        peer_feed(p, leave);
    if (event == EVZK_MEMBER_FAILED)
        peer_fail("a member", rc);
    if (event != EVZK_MEMBER_LEFT)
        return;
    peer_must(rc, "leave");
    evzk_member_free(member);
    if (!peer_ended(p))
        return;
    peer_say_both(p);
    free(members);
}

static void join(struct peer *p, size_t i)
{
    char name[32];

    snprintf(name, sizeof name, "m-%zu", i);
    peer_must(
        evzk_group_join(p->zk, p->dir, name, NULL, on_member, p, &members[i]),
        "join");
}

void peer_members(struct peer *p, const char *dir, size_t count)
{
    members = peer_room(count, sizeof *members);
    peer_begin(p, dir, count);
    peer_feed(p, join);
}
