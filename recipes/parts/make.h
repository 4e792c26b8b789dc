/* Makes one znode in the machine's directory, once, whatever happens: rows for
 * the table of any recipe.
 *
 *   CREATING <--> MAKING_DIR
 *      |  ^
 *      v  |
 *   RESOLVING <--> ADOPTING
 *      `-------------+----> the recipe's own rows
 *
 * The name begins with a fresh GUID.  If the directory is missing it is made,
 * with all that is missing above it.  If the outcome of the create is unknown,
 * the GUID is looked for, behind a write that changes nothing: by then, all
 * that the session ever sent has been done, or never will be.  So no second
 * znode is made while the first may still come.  A znode that is seen is there,
 * also where that write was refused.  A znode of that name is read
 * before it is taken for the machine's own.
 *
 * A recipe has a struct evzk__make in its own struct, and a function that finds
 * it.  In its file:
 *
 *     #include "lib/machine/rows.h"
 *     #include "recipes/parts/make.h"
 *
 *     enum { CREATING, MAKING_DIR, RESOLVING, ADOPTING, HELD, DELETING, ENDED,
 *            STATES };
 *     static const struct evzk__make_rows make_rows =
 *         MAKE_ROWS_OF(made);
 *     MAKE_ACTIONS(make_of)
 *     static const struct evzk__row rows[STATES] = {
 *     MAKE_ROWS(HELD, TO(HELD), TO(DELETING)),
 *     ...
 *
 * and gives evzk__make_left() in its kind's `left`: a machine that ends since
 * servers refuse leaves the rest to its session.  It calls evzk__make_init()
 * before the machine starts.  `made` is called when
 * the znode exists, and moves on; if the machine is `stopping`, it must delete
 * the znode again.  A machine that is to stop before a znode was made ends by
 * itself. */
#ifndef EVZK_MAKE_H
#define EVZK_MAKE_H

#include "lib/machine/machine.h"

struct evzk__make;

/* Where the recipe's table has the rows, and what comes behind them. */
struct evzk__make_rows {
    uint8_t creating, making_dir, resolving, adopting;
    /* The znode was made: its name and czxid are in the struct.  `rc` is
     * EVZK_OK; or, for a persistent znode only, EVZK_ERR_NODEGONE: another
     * client has deleted it already.  Returns what a reaction returns. */
    int (*made)(struct evzk__machine *m, int rc);
};

struct evzk__make {
    const struct evzk__make_rows *rows;
    /* The create: its mode, data and ACL are the recipe's, and may be changed
     * before each attempt.  The mode is not container. */
    struct evzk__step step;
    const char *tag;           /* Behind the GUID; borrowed. */
    char name[EVZK__NAME_MAX]; /* With its number, once made. */
    int64_t czxid;
    bool may_stand; /* Was asked for, and no server has said that it is gone:
                       the recipe takes that back when it has deleted it. */
};

/* `tag` is borrowed, is not empty, and is short: GUID, tag and number fit into
 * a name.  If the mode is persistent, the machine's kind has
 * `outlives_session`. */
void evzk__make_init(struct evzk__make *k, const struct evzk__make_rows *rows,
                     const char *tag, enum evzk__mode mode);

/* For a recipe that makes the znode itself, in a transaction: writes another
 * name, with a fresh GUID and the tag, to `name`.  0 or EVZK_ERR_INTERNAL. */
int evzk__make_new_name(struct evzk__make *k);

/* The znode, if it may be left: for `left` of the machine's kind. */
bool evzk__make_left(struct evzk__make *k, struct evzk__left *out);

/* The actions; MAKE_ACTIONS() defines them for a machine. */
void evzk__make_create(struct evzk__machine *m, struct evzk__make *k);
int evzk__make_created(struct evzk__machine *m, struct evzk__make *k,
                       const struct evzk__event *e);
void evzk__make_dir(struct evzk__machine *m, struct evzk__make *k);
int evzk__make_dir_made(struct evzk__machine *m, struct evzk__make *k,
                        const struct evzk__event *e);
void evzk__make_resolve(struct evzk__machine *m, struct evzk__make *k);
int evzk__make_resolved(struct evzk__machine *m, struct evzk__make *k,
                        const struct evzk__event *e);
void evzk__make_adopt(struct evzk__machine *m, struct evzk__make *k);
int evzk__make_adopted(struct evzk__machine *m, struct evzk__make *k,
                       const struct evzk__event *e);

#define MAKE_ACTION(find, enter, react)                                        \
    static void make_##enter(struct evzk__machine *m)                          \
    {                                                                          \
        evzk__make_##enter(m, find(m));                                        \
    }                                                                          \
    static int make_##react(struct evzk__machine *m,                           \
                            const struct evzk__event *e)                       \
    {                                                                          \
        return evzk__make_##react(m, find(m), e);                              \
    }
#define MAKE_ACTIONS(find)                                                     \
    MAKE_ACTION(find, create, created)                                         \
    MAKE_ACTION(find, dir, dir_made)                                           \
    MAKE_ACTION(find, resolve, resolved)                                       \
    MAKE_ACTION(find, adopt, adopted)

#define MAKE_ROWS_OF(made)                                                     \
    {                                                                          \
        CREATING, MAKING_DIR, RESOLVING, ADOPTING, made                        \
    }

/* The rows: the row that follows, then all that `made` may move to (a set of
 * states, TO()), then the same of a machine that is to stop. */
/* clang-format off */
#define MAKE_ROWS(next, to, to_stop)                                           \
ROW(CREATING,   make_create,  make_created,  next,      STAY,      RESOLVING, NOTHING_SENT, \
    ON_SET(REPLY, to, MAKING_DIR, RESOLVING, FAIL),                            \
    RARELY(REPLY, CREATING),                                                   \
    ON_SET(STOP,  to_stop, RESOLVING, ENDED),                                  \
    RARELY(ENTRY, ENDED)),                                                     \
ROW(MAKING_DIR, make_dir,     make_dir_made, ASIDE,     ENDED,     CREATING,  RETRY, \
    ON(REPLY,     CREATING, FAIL)),                                            \
ROW(RESOLVING,  make_resolve, make_resolved, ASIDE,     STAY,      RESOLVING, RETRY|SIGHTS, \
    ON(REPLY,     CREATING, ADOPTING, FAIL),                                   \
    ON(STOP,      ADOPTING, ENDED)),                                           \
ROW(ADOPTING,   make_adopt,   make_adopted,  ASIDE,     STAY,      ADOPTING,  RETRY, \
    ON_SET(REPLY, to, EVZK__NONE), RARELY(REPLY, CREATING, RESOLVING, FAIL),   \
    ON_SET(STOP,  to_stop, EVZK__NONE), RARELY(STOP, RESOLVING, ENDED))
/* clang-format on */

#endif
