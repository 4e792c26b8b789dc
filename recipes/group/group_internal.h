/* A member of a group, as its files know it.
 *
 *   group/event.c   what is told
 *   group/sight.c   what a look at the servers tells
 *   group/stay.c    a member that has joined, and one that waits
 *   group/refused.c what becomes of it where servers refuse
 *   group/join.c    makes the znodes, and what is missing of them
 *   group/leave.c   deletes the znodes
 *   group/member.c  the table, and why it is right
 *   group/calls.c   the calls
 *
 * What is on the servers, below the group's path; all of it ephemeral, and made
 * in one transaction:
 *
 *   <name>         the member, with its data
 *   .evzk/<name>   the claim: says who has the name; its data is the guard
 *   .evzk/.<guid>  the guard: says that this claim is the member's own
 */
#ifndef EVZK_GROUP_INTERNAL_H
#define EVZK_GROUP_INTERNAL_H

#include "evzk/group.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "lib/machine/refuse.h"

#define EVZK__GROUP_DIR "/.evzk"

/* The rows of the table. */
enum {
    MAKING_DIR,
    JOINING,
    LOOKING,
    REPAIRING,
    REMAKING_DIR,
    JOINED,
    UPDATING,
    WAITING,
    REFUSED,
    CHECKING,
    LEAVING,
    ENDED,
    STATES
};

/* The path watches. */
enum { ON_NAME = EVZK__PATH, ON_CLAIM, MEMBER_WATCHES = 2 };

/* Writes that are refused, and directories that go away: not for ever. */
enum { MEMBER_TRIES = 12 };

enum evzk__whose { GROUP_ABSENT, GROUP_OWN, GROUP_OTHERS };

/* The znodes, as the last look has shown them. */
struct evzk__sight {
    uint8_t guard, claim, name; /* enum evzk__whose */
    bool early;                 /* The name, or the claim, is of an earlier
                                   session of the member's. */
    bool twin;       /* Another member of the same session has the claim. */
    bool as_wanted;  /* The name holds the latest data. */
    int32_t version; /* Of the name; .. */
    int64_t czxid;   /* .. and its czxid: while a look is read. */
};

struct evzk__member_data {
    void *v; /* Owned; or NULL. */
    uint32_t len;
};

struct evzk_member {
    struct evzk__machine m; /* Its directory is <group>/.evzk. */
    struct evzk__path_watch watch[MEMBER_WATCHES];
    struct evzk__step step[4];
    struct evzk__sight sight;
    int64_t guard_mzxid; /* While a look is read. */
    int64_t claim_czxid; /* The same of the claim. */
    int64_t czxid;       /* Of the name, as it was seen last; 0: never. */
    int64_t session;     /* The owner of the name, then. */
    int64_t told_token;  /* The czxid as it was told with JOINED. */
    evzk_lease *lease;   /* Of that, with a reference; NULL: never asked for. */
    int look_rc;         /* The first error of the look. */
    enum {
        REPORTED_NOTHING,
        REPORTED_JOINED,
        REPORTED_REJOINING,
        REPORTED_CONFLICT
    } reported : 8;
    bool no_wait;
    bool leaves;       /* The user has asked for it. */
    bool looked;       /* `sight` is new: nothing was asked since. */
    bool unsettled;    /* A write may still come: the look goes behind one. */
    bool may_be_own;   /* A write, lost or not, may have made it. */
    bool behind_write; /* The present look does. */
    bool may_stand;    /* Something was to be made, and no look, and no
                          delete, has shown since that nothing is there. */
    bool waits;        /* Something was refused: for a while nothing is written
                          that is not there, .. */
    int refused_rc;    /* .. for this, 0: for nothing; .. */
    int logged_rc;     /* .. which was logged, .. */
    int told_rc;       /* .. and was told with REJOINING. */
    uint32_t updates;  /* Calls of evzk_member_update(). */
    uint32_t seen, told; /* Of these: those that the last look has seen
                            written; and those that were told. */
    uint32_t too_large;  /* The same of the last one that was too large. */
    /* As it is written; and as it is to be written next.  NULL: the session's;
     * and: nothing waits.  If `data` were never seen at the servers, `former`
     * are those before them. */
    struct evzk__member_data data, next, former;
    bool has_former;
    struct evzk__acl own_acl; /* Owned. */
    const evzk_acl *acl;      /* That, or the session's. */
    uint32_t acl_count;
    evzk_member_cb *cb; /* NULL once the caller has freed it. */
    void *arg;
    char *path; /* Owned: <group>/<name>. */
    char name[EVZK_MEMBER_NAME_MAX + 1];
    char guard[1 + EVZK__GUID_LEN + 1];
};

static inline struct evzk_member *evzk__member_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_member, m);
}

/* ---- group/calls.c ---- */

/* evzk_group_join(), for a call of another recipe: a bad argument is logged as
 * that call's.  The options are not NULL. */
int evzk__group_join(const struct evzk__call *call, evzk_session *s,
                     const char *path, const char *name,
                     const evzk_member_options *opt, evzk_member_cb *cb,
                     void *arg, evzk_member **out);

/* ---- group/event.c ---- */

/* May free the member, whose machine lives on: look at that afterwards. */
void evzk__member_tell(struct evzk_member *d, evzk_member_event ev, int rc);
/* Tells REJOINING, if the member has told JOINED. */
void evzk__member_lose(struct evzk_member *d, int rc);
/* Ends the lease for other threads, if there is one. */
void evzk__member_over(struct evzk__machine *m);
void evzk__member_destroy(struct evzk__machine *m);

/* ---- group/sight.c ---- */

/* The latest data; borrowed. */
struct evzk__member_data evzk__member_latest(const struct evzk_member *d);
/* The same, from now on kept until the request that writes them is answered:
 * for the entry of a row, which has no request under way. */
struct evzk__member_data evzk__member_take_data(struct evzk_member *d);
/* The servers have taken the data: those before them are not needed any more.
 */
void evzk__member_data_stand(struct evzk_member *d);
/* The servers take no data that are so large.  True: those before them count
 * again, or a later update does; false: there is neither. */
bool evzk__member_drop_data(struct evzk_member *d);

/* Asks what stands.  With watches: on the name and on the claim. */
void evzk__member_ask_sight(struct evzk_member *d, bool watched);
/* Notes a reply; true: it was the last. */
bool evzk__member_note_sight(struct evzk_member *d,
                             const struct evzk__reply *reply);

/* A write is asked, and its outcome is unknown until it is answered.  False:
 * the sight is not new, and nothing may be asked. */
bool evzk__member_may_write(struct evzk_member *d);
/* The answer to a write that was refused, or lost.  0: look again; or an error
 * that another try does not better. */
int evzk__member_not_written(struct evzk_member *d, int rc);

/* ---- group/refused.c ---- */

/* A refusal that no try at once betters.  0: the member has moved, or will look
 * at what stands; else the member ends with it. */
int evzk__member_refused(struct evzk_member *d, int rc);
/* The deadline has passed. */
void evzk__member_try_again(struct evzk__machine *m);
/* The member has what it wants: nothing is refused any more. */
void evzk__member_content(struct evzk_member *d);
void evzk__member_rest(struct evzk__machine *m);
int evzk__member_rested(struct evzk__machine *m, const struct evzk__event *e);

/* ---- the actions: group/join.c ---- */

void evzk__member_make_dir(struct evzk__machine *m);
int evzk__member_dir_made(struct evzk__machine *m, const struct evzk__event *e);
void evzk__member_join(struct evzk__machine *m);
int evzk__member_was_joined(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__member_look(struct evzk__machine *m);
int evzk__member_looked(struct evzk__machine *m, const struct evzk__event *e);
void evzk__member_repair(struct evzk__machine *m);
int evzk__member_repaired(struct evzk__machine *m, const struct evzk__event *e);
int evzk__member_dir_remade(struct evzk__machine *m,
                            const struct evzk__event *e);

/* ---- group/stay.c ---- */

int evzk__member_doubt(struct evzk_member *d, const struct evzk__event *e);
void evzk__member_stay(struct evzk__machine *m);
int evzk__member_stayed(struct evzk__machine *m, const struct evzk__event *e);
void evzk__member_write(struct evzk__machine *m);
int evzk__member_written(struct evzk__machine *m, const struct evzk__event *e);
void evzk__member_wait(struct evzk__machine *m);
int evzk__member_waited(struct evzk__machine *m, const struct evzk__event *e);

/* ---- group/leave.c ---- */

void evzk__member_check(struct evzk__machine *m);
int evzk__member_checked(struct evzk__machine *m, const struct evzk__event *e);
void evzk__member_leave(struct evzk__machine *m);
int evzk__member_left(struct evzk__machine *m, const struct evzk__event *e);
void evzk__member_end(struct evzk__machine *m);
bool evzk__member_leaves(struct evzk__machine *m, unsigned i,
                         struct evzk__left *out);

#endif
