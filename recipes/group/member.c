/* A member of a group.
 *
 *   MAKING_DIR, JOINING, LOOKING, REPAIRING, REMAKING_DIR: join.c
 *   JOINED, UPDATING, WAITING: stay.c
 *   REFUSED: refused.c
 *   CHECKING, LEAVING: leave.c
 *
 * The full diagram, made from the table below, is in doc/member.svg.
 *
 * Every write is asked once for each look, and every answer leads to another
 * look: what comes next depends on what stands, and on nothing else.
 *
 * Why no identity has two members.  A member is told so when it has seen, in a
 * valid lease, that its own session owns the name; and a name is one znode.
 *
 * Why no member deletes another's znode.  The transaction that joins makes
 * claim, guard and name, or nothing.  So while the claim stands, nobody else
 * joins, even if somebody deletes the name by hand; and while the name stands,
 * nobody else joins, even if somebody deletes the claim.  The transaction that
 * leaves deletes the guard first, whose GUID nobody else ever had: it is done
 * once, and not at all if the guard has gone.
 *
 * Three ways remain, all of them between a member's last look and its delete,
 * one round trip: somebody deletes the name and the claim by hand, but not the
 * guard, and another process joins under that name; or somebody has deleted the
 * guard before, and now deletes the other two, and another process joins; or a
 * program that does not follow this protocol replaces the name.  Then the
 * delete hits the wrong znode, and its member joins again.
 *
 * How it can fail: each file says that of its states.
 */
#include "recipes/group/group_internal.h"

#include "lib/machine/rows.h"
#include "recipes/kinds.h"

/* NEVER: a session's end comes behind the loss of a connection, and that leads
 * to a look from every row that knows what stood before. */
/* clang-format off */
#define MEMBER(state, enter, react, ...) \
    ROW(state, evzk__member_##enter, evzk__member_##react, __VA_ARGS__)

static const struct evzk__row rows[STATES] = {
/*     state         entry     reaction    main     on stop   on expiry   flags */
MEMBER(MAKING_DIR,   make_dir, dir_made,   JOINING, CHECKING, MAKING_DIR, RETRY|NOTHING_SENT,
       ON(REPLY,        JOINING, REFUSED, FAIL)),
MEMBER(JOINING,      join,     was_joined, LOOKING, CHECKING, LOOKING,    UNSENT|NOTHING_SENT,
       ON(REPLY,        LOOKING, MAKING_DIR, REFUSED, FAIL),
       ON(ENTRY,        LOOKING), RARELY(ENTRY, CHECKING),
       ON(EXPIRED,      NEVER)),
MEMBER(LOOKING,      look,     looked,     JOINED,  CHECKING, LOOKING,    RETRY|HOLDS,
       ON(REPLY,        JOINED, UPDATING, REPAIRING, WAITING, REFUSED, JOINING, LOOKING, HERE, FAIL)),
MEMBER(REPAIRING,    repair,   repaired,   ASIDE,   CHECKING, LOOKING,    UNSENT|HOLDS,
       ON(REPLY,        LOOKING, REMAKING_DIR, FAIL),
       ON(ENTRY,        LOOKING), RARELY(ENTRY, CHECKING),
       ON(EXPIRED,      NEVER)),
MEMBER(REMAKING_DIR, make_dir, dir_remade, ASIDE,   CHECKING, LOOKING,    RETRY|HOLDS,
       ON(REPLY,        LOOKING, FAIL)),
MEMBER(JOINED,       stay,     stayed,     CHECKING, CHECKING, LOOKING,   RETRY|HOLDS,
       ON(ENTRY,        LOOKING),
       ON(PATH_DELETED, LOOKING),
       ON(PATH_CHANGED, LOOKING),
       ON(USER_EVENT,   UPDATING, LOOKING, HERE),
       ON(EXPIRED,      NEVER)),
MEMBER(UPDATING,     write,    written,    ASIDE,   CHECKING, LOOKING,    UNSENT|HOLDS,
       ON(REPLY,        LOOKING, FAIL),
       ON(ENTRY,        LOOKING),
       ON(EXPIRED,      NEVER)),
MEMBER(WAITING,      wait,     waited,     ASIDE,   CHECKING, LOOKING,    RETRY,
       ON(ENTRY,        LOOKING),
       ON(PATH_DELETED, LOOKING),
       ON(PATH_CHANGED, LOOKING),
       ON(EXPIRED,      NEVER)),
MEMBER(REFUSED,      rest,     rested,     ASIDE,   CHECKING, LOOKING,    RETRY,
       ON(USER_EVENT,   LOOKING, HERE)),
MEMBER(CHECKING,     check,    checked,    LEAVING, STAY,     ENDED,      RETRY,
       ON(STOP,         LEAVING, ENDED)),
MEMBER(LEAVING,      leave,    left,       ENDED,   STAY,     ENDED,      UNSENT,
       ON(ENTRY,        CHECKING),
       ON(STOP,         CHECKING, ENDED),
       RARELY(STOP,     HERE),
       ON(EXPIRED,      NEVER)),
END(ENDED,           evzk__member_end),
};
/* clang-format on */

const struct evzk__kind evzk__member_kind = {
    .name = "member",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = evzk__member_try_again,
    .keeps_timer = true,
    .destroy = evzk__member_destroy,
    .over = evzk__member_over,
    .left = evzk__member_leaves,
    EVZK__PATH_WATCHES(struct evzk_member, m, watch)};
