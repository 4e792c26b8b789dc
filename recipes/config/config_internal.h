/* Queries, followers and replacements of a configuration, as their files know
 * them.  From the ground up; no file calls one above it:
 *
 *   config/keys.c    keys in the order of their names
 *   config/read.c    the table of queries and followers
 *   config/chunk.c   what goes into the next transaction of a replacement
 *   config/lock.c    the lock of a replacement
 *   config/settle.c  the rows of a replacement whose last answer was lost
 *   config/write.c   the table of replacements
 *   config/calls.c   the calls of queries and followers
 *   config/update.c  the calls of replacements
 *
 * Where the znodes are:
 *
 *   <path>/<key>        a key
 *   <path>/ready        the set is whole; its data is the replacement's GUID
 *   <path>/ready/<guid> of that name: whoever deletes it replaces just that set
 *   <path>.evzk/lock/   the lock
 */
#ifndef EVZK_CONFIG_INTERNAL_H
#define EVZK_CONFIG_INTERNAL_H

#include "evzk/config.h"
#include "evzk/lock.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "recipes/parts/history.h"
#include "recipes/parts/read_all.h"

#define EVZK__CONFIG_READY "ready"
#define EVZK__CONFIG_LOCK ".evzk/lock"
enum { EVZK__CONFIG_MARK = sizeof "ready/" + EVZK__GUID_LEN };

/* How much goes into one transaction.  Tests set smaller numbers, for the
 * replacements that they begin then. */
struct evzk__config_limits {
    uint32_t steps; /* Keys that come, change or go. */
    size_t bytes;   /* Of several keys. */
};
extern struct evzk__config_limits evzk__config_limits;

/* So often in a row what the servers refuse for now is asked again.  They have
 * not done it. */
enum { EVZK__CONFIG_REFUSALS = 8 };

/* A list that is older than `ready` is asked for again: at once, and then in
 * pauses.  False: it is not, or has been so too often.  *older counts that. */
static inline bool evzk__config_lists_again(struct evzk__machine *m,
                                            uint8_t *older, bool is_older)
{
    if (!is_older || *older == EVZK__CONFIG_REFUSALS) {
        *older = 0;
        return false;
    }
    if ((*older)++ == 0)
        evzk__machine_again(m);
    else
        evzk__machine_again_later(m);
    return true;
}

/* ---- config/keys.c ---- */

/* Sorts the names, and takes `ready` out. */
void evzk__config_sort(struct evzk__read_all *all);
bool evzk__config_has(const struct evzk__read_all *all, const char *name);

/* A copy, with names and data, in one block; NULL: no memory. */
evzk_config_key *evzk__config_copy(const evzk_config_key *key, size_t n);

/* Is there a name twice? */
bool evzk__config_has_twice(const evzk_config_key *key, size_t n);

/* ---- config/read.c ---- */

/* What a query and a follower have in common. */
struct evzk__config_read {
    struct evzk__machine m; /* Its directory is the configuration's. */
    bool follows;
    bool over; /* The end was told. */
    /* Tells the configuration, or the end; may free the object. */
    void (*tell)(struct evzk__config_read *r, int rc, const evzk_config *c);
    int64_t told;        /* The number told last; 0: none. */
    uint64_t told_print; /* Of its keys and their data. */
    struct evzk__history history;

    /* This look. */
    int64_t number;            /* The czxid of `ready`. */
    int64_t listed_at;         /* The pzxid of the list of keys. */
    int list_rc;               /* Why there is no list. */
    struct evzk__read_all all; /* Owned: the names of the keys. */
    evzk_config_key *key;      /* Owned, with the data. */
    bool lacks_memory;         /* For the names, or for the data of a key. */
    bool misses, denied;       /* A key is gone; a key may not be read. */
    uint8_t refusals;          /* Of READING, in a row. */
    uint8_t older;             /* Lists older than `ready`, in a row. */
};

struct evzk_config_query {
    struct evzk__config_read r;
    evzk_config_query_cb *cb; /* NULL once the caller has freed the query. */
    void *arg;
};

struct evzk_config_follower {
    struct evzk__config_read r;
    evzk_config_follower_cb *cb;
    void *arg;
};

/* ---- Replacements ---- */

struct evzk_config_update {
    struct evzk__machine m;    /* Its directory is the configuration's. */
    evzk_config_update_cb *cb; /* NULL once the caller has freed it. */
    void *arg;
    struct evzk__acl own_acl; /* Owned. */
    const evzk_acl *acl;      /* That, or the session's. */
    uint32_t acl_count;
    evzk_config_key *key; /* Owned; in the order of their names. */
    uint32_t n_keys;
    char own_mark[EVZK__CONFIG_MARK]; /* The child of its own `ready`. */
    char nobody[EVZK__GUID_LEN + 1];  /* The name of a child that never is. */
    size_t item_bytes; /* Of a step, without its name and its data. */
    int64_t number;    /* Once it is done. */
    int64_t if_number; /* Of the only one to replace; as in the options. */

    /* The directory, as it was listed. */
    struct evzk__read_all there; /* Owned: the keys that there are. */
    int list_rc;
    int64_t ready;      /* The czxid of `ready`; 0: there is none. */
    int64_t last_ready; /* Of the last replacement that was seen. */
    /* The child of `ready`, as it was read; "": none is known. */
    char mark[EVZK__CONFIG_MARK];
    int64_t changed; /* When the list of keys was changed last. */
    char **gone;     /* Owned: of these names, those that are to go. */
    uint32_t n_gone;

    /* The next transaction. */
    uint32_t at;              /* So many keys are as they are to be. */
    uint32_t chunk;           /* So many are in the transaction. */
    struct evzk__step *steps; /* Owned. */
    uint32_t most;            /* So many keys have room in them. */
    uint32_t n_steps;
    bool guarded;     /* By the lock's znode, though the lock be lost since. */
    uint32_t first;   /* The first step that is about a key. */
    uint8_t refusals; /* For now, in a row. */
    uint8_t older;    /* Lists older than `ready`, in a row. */

    /* The lock. */
    evzk_lock *lock; /* Owned; NULL: it has not asked for one. */
    bool has_lock;
    bool wrote;      /* Under this lock: so `ready` may be gone. */
    int lock_rc;     /* Why no lock will be granted. */
    char *lock_path; /* Owned. */
    char *guard;     /* Owned: the path of the lock's znode; has room. */

    /* What SETTLING has read so far. */
    int64_t settled_ready;
    bool settled_ours;
};

static inline struct evzk_config_update *
evzk__update_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_config_update, m);
}

/* ---- config/chunk.c ---- */

int evzk__chunk_allocate(struct evzk_config_update *u);

/* The directory was listed: compares it with the keys.  0, or EVZK_ERR_NOMEM.
 */
int evzk__chunk_begin(struct evzk_config_update *u);

/* The GUID in the name of the replacement's own child of `ready`. */
const char *evzk__config_guid(const struct evzk_config_update *u);

/* Chooses what goes into the next transaction.  True: all that is left. */
bool evzk__chunk_choose(struct evzk_config_update *u);

/* Asks for the transaction; the last one makes `ready`. */
void evzk__chunk_ask(struct evzk_config_update *u, bool last);

/* ---- config/lock.c ---- */

/* 0, or EVZK_ERR_NOMEM or another reason why none can be asked for. */
int evzk__config_lock(struct evzk_config_update *u);
void evzk__config_unlock(struct evzk_config_update *u);

/* ---- config/settle.c ---- */

enum evzk__update_state {
    EVZK__UPDATE_LISTING,
    EVZK__UPDATE_MAKING_DIR,
    EVZK__UPDATE_LOCKING,
    EVZK__UPDATE_WRITING,
    EVZK__UPDATE_FINISHING,
    EVZK__UPDATE_SETTLING,
    EVZK__UPDATE_ENDED,
    EVZK__UPDATE_STATES
};

void evzk__update_settle(struct evzk__machine *m);
int evzk__update_settled(struct evzk__machine *m, const struct evzk__event *e);

/* ---- config/write.c ---- */

void evzk__update_destroy(struct evzk_config_update *u);

#endif
