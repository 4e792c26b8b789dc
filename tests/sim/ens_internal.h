/* What the files of the servers share.
 *
 *  ens.c          what arrives; who answers it, and in which order
 *  ens_acl.c      permissions and identities
 *  ens_tree.c     the tree, with versions
 *  ens_prep.c     the leader's check of a write: from request to transaction
 *  ens_close.c    the end of a session
 *  ens_apply.c    from transaction to tree, and to the reply
 *  ens_read.c     the answers that take no transaction
 *  ens_watch.c    watches
 *  ens_session.c  sessions: their beginning, moves, and end
 *  ens_link.c     between the servers
 *  ens_flow.c     the order of transactions, and what happens when
 *  ens_fault.c    what faults do, and what tests may see */
#ifndef SIM_ENS_INTERNAL_H
#define SIM_ENS_INTERNAL_H

#include "ens.h"
#include "world.h"

/* Codes of the protocol that zookeeper.h does not export. */
enum {
    ENS_CREATE = 1,
    ENS_DELETE = 2,
    ENS_EXISTS = 3,
    ENS_GET_DATA = 4,
    ENS_SET_DATA = 5,
    ENS_GET_ACL = 6,
    ENS_SET_ACL = 7,
    ENS_GET_CHILDREN = 8,
    ENS_SYNC = 9,
    ENS_GET_CHILDREN2 = 12,
    ENS_CHECK = 13,
    ENS_MULTI = 14,
    ENS_CREATE2 = 15,
    ENS_CHECK_WATCHES = 17,
    ENS_REMOVE_WATCHES = 18,
    ENS_CREATE_CONTAINER = 19,
    ENS_CREATE_TTL = 21,
    ENS_SET_AUTH = 100,
    ENS_ERROR = -1,
    /* Not of the protocol: an operator's. */
    ENS_SET_VERSION = -51,
    ENS_SET_SEQUENCE = -50
};

/* Permissions. */
enum {
    ENS_READ = 1,
    ENS_WRITE = 2,
    ENS_MAKE = 4,
    ENS_DROP = 8,
    ENS_ADMIN = 16
};

#define ENS_CONTAINER_OWNER INT64_MIN

/* Bytes, and lists of permissions, are shared and counted. */
struct ens_blob {
    int32_t refs, len;
    char bytes[];
};
struct ens_acl { /* NULL: everything to everybody. */
    int32_t refs;
    struct ACL_vector v;
};

/* The identities of a connection, besides its address.  NULL: none. */
enum { ENS_IDS = 4 };

/* A proposal takes so much longer while the leader is slow.  The scenes'
 * clients give a connection up after 667 milliseconds without a word. */
enum { CRAWL_US = 640 * 1000 };
struct ens_auth {
    int32_t refs, n;
    char *ids[ENS_IDS]; /* "user:digest" */
};

/* A node as it was from `zxid` on. */
struct ens_rev {
    struct ens_rev *older;
    int64_t zxid;
    struct ens_blob *data; /* NULL: none, not even an empty one. */
    struct ens_acl *acl;
    int64_t czxid, mzxid, pzxid, owner;
    int64_t day;   /* Of its data: see ens_day(). */
    int64_t maker; /* The session that made it; 0: an operator. */
    int32_t version, creates, aversion, children;
    int64_t gone; /* Not a bool: a revision has no padding. */
};
struct ens_node {
    struct ens_node *chain;
    struct ens_node *parent, *first, *last, *next, *before;
    struct ens_rev *newest;
    uint32_t hash;
    char path[];
};

/* What the leader has prepared and not yet committed, by path. */
struct ens_record {
    struct ens_record *older;
    char *path;
    struct ens_rev rev;
};

/* An operation of a transaction.  When it is committed its lists of permissions
 * are those that decide who may hear of it. */
struct ens_op {
    struct ens_op *next;
    int32_t op, err, version;
    char *path;
    struct ens_blob *data;
    struct ens_acl *acl, *parent_acl;
    int64_t owner, day;
};

/* The end of a request: where its answer goes. */
struct ens_origin {
    int32_t server; /* -1: nobody waits. */
    int32_t conn;
    uint32_t serial; /* Tells a connection from a later one of that number. */
    int32_t xid;
};

struct ens_txn {
    struct ens_txn *next;
    int64_t zxid, session, commit_at;
    int32_t op, err, timeout_ms;
    struct ens_origin origin;
    struct ens_op *ops, *last;
    struct wire_msg *reply; /* Once committed; NULL: without one. */
};

struct ens_session {
    struct ens_session *next;
    int64_t id, expires_at;
    int32_t timeout_ms, owner; /* The server it was last attached to. */
    bool closing;
};

struct ens_watch {
    struct ens_watch *next;
    bool children; /* Else data and existence. */
    char path[];
};

enum ens_conn_state { ENS_FREE, ENS_NEW, ENS_OPENING, ENS_OPEN };
struct ens_conn {
    enum ens_conn_state state;
    int32_t server;
    uint32_t serial;
    int32_t timeout_ms;
    int64_t session;
    int64_t greeted; /* What its server had applied when it was opened. */
    struct ens_auth *auth;
    struct ens_watch *watches;
};

/* A request that is not yet answered, in the order of arrival at a server. */
struct ens_pending {
    struct ens_pending *next;
    struct ens_origin origin;
    int64_t session;
    struct wire_msg *read; /* NULL: it awaits its commit. */
    int32_t op;
};

enum ens_kind {
    ENS_REQUEST,
    ENS_REVALIDATE,
    ENS_COMMIT,
    ENS_SYNCED,
    ENS_VALIDATED
};
struct ens_letter {
    struct ens_letter *next;
    int64_t due;
    enum ens_kind kind;
    int32_t timeout_ms;
    bool valid;
    struct ens_origin origin;
    int64_t session, after; /* after: of a sync, the zxid it waits for. */
    struct ens_txn *txn;
    struct wire_msg *m;
    struct ens_auth *auth;
};
struct ens_link {
    struct ens_letter *first, *last;
    int64_t held; /* Nothing arrives before. */
};

struct ens_server {
    int64_t applied;
    struct ens_link up, down;
    struct ens_pending *pending;
    int64_t cut_since, cut_until; /* Of the link to the leader. */
    bool dropped;                 /* Has given its leader up. */
    int64_t report_due;           /* 0: nobody was heard since the last. */
};

enum { ENS_BUCKETS = 256, ENS_COUNTS = 128, ENS_COUNT_BASE = -ENS_OP_FIRST };
enum { TIDIED = 16 };
_Static_assert(ENS_OP_LAST - ENS_OP_FIRST < ENS_COUNTS, "a count for each");
struct ens_state {
    /* How many of the next requests, writes or reads are refused. */
    uint8_t throttle[SIM_PROCS], throttle_writes[SIM_PROCS];
    uint8_t throttle_reads[SIM_PROCS];
    uint8_t throttled[SIM_PROCS]; /* Errors sent. */
    int64_t throttled_at[SIM_PROCS];
    bool throttled_read[SIM_PROCS];
    uint32_t shut[SIM_PROCS];   /* Likeness of what servers hang up at; or 0. */
    uint8_t shut_at[SIM_PROCS]; /* How often the servers did. */
    uint8_t long_at[SIM_PROCS]; /* .. of these since it was too long. */
    bool shut_read[SIM_PROCS];  /* The request is a read. */
    uint8_t greeted[SIM_PROCS]; /* Connections with a session. */
    bool deny[SIM_PROCS];
    int64_t full_until, full_at; /* A quota is used up; it was, last. */
    uint8_t denied[SIM_PROCS];
    struct ens_config cfg;
    struct ens_node *bucket[ENS_BUCKETS];
    struct ens_record *records; /* Newest first. */
    struct ens_txn *oldest, *newest;
    struct ens_letter *syncs; /* Wait at the leader, in order. */
    struct ens_session *sessions;
    int64_t day, tidied;       /* See ens_day(), ens_tidied(). */
    int64_t tidied_of[TIDIED]; /* The sessions that made the last of these. */
    struct ens_server server[SIM_SERVERS];
    struct ens_conn conn[WIRE_CONNS];
    int64_t proposed, committed, hold_until, reap_at, crawl_until;
    int64_t anew, anew_from; /* Behind this zxid they are counted anew, from
                                the other one on; 0: not. */
    uint64_t requests, operations, watches_asked, counts[ENS_COUNTS];
    uint32_t serial, containers;
    int64_t made[SIM_SERVERS]; /* Sessions, for their ids. */
    /* Of whom a follower has heard since its last report. */
    int64_t heard[SIM_SERVERS][WIRE_CONNS];
    int32_t heard_ms[SIM_SERVERS][WIRE_CONNS];
};
extern struct ens_state ens;

/* The first zxid, far from those of a history that begins anew. */
enum { ENS_FIRST_ZXID = 100000 };

/* The zxid as clients see it. */
static inline int64_t ens_number(int64_t zxid)
{
    return ens.anew != 0 && zxid > ens.anew ? zxid - ens.anew + ens.anew_from
                                            : zxid;
}

/* ens_acl.c */
struct ens_blob *ens_blob_new(const void *data, int32_t len);
struct ens_blob *ens_blob_ref(struct ens_blob *b);
void ens_blob_unref(struct ens_blob *b);
struct ens_acl *ens_acl_ref(struct ens_acl *a);
void ens_acl_unref(struct ens_acl *a);
void ens_acl_set(struct ens_acl **to, struct ens_acl *a);
/* As a request asks for it, with "auth" replaced.  0 or ZINVALIDACL. */
int ens_acl_fix(const struct ACL_vector *v, const struct ens_auth *auth,
                struct ens_acl **out);
bool ens_acl_allows(const struct ens_acl *a, int perms,
                    const struct ens_auth *auth);
void ens_acl_tell(struct wire_msg *m, const struct ens_acl *a, bool hide);
struct ens_auth *ens_auth_ref(struct ens_auth *a);
void ens_auth_unref(struct ens_auth *a);
/* The order in which Java's hashed collections hand strings out: by bucket. */
uint32_t ens_java_hash(const char *s);
uint32_t ens_java_bucket(uint32_t hash, uint32_t buckets);
/* False: refused. */
bool ens_auth_add(struct ens_auth **a, const struct wire_msg *m);

/* ens_tree.c */
void ens_tree_begin(void);
struct ens_node *ens_tree_find(const char *path);
struct ens_node *ens_tree_parent(const char *path);
/* As it was at `view`; NULL: it was not. */
const struct ens_rev *ens_tree_at(const struct ens_node *n, int64_t view);
const struct ens_rev *ens_tree_look(const char *path, int64_t view);
struct ens_node *ens_tree_add(const char *path);
/* Its newest, to be changed by the transaction zxid. */
struct ens_rev *ens_tree_change(struct ens_node *n, int64_t zxid);
/* Drops what no view from `view` on can see. */
void ens_tree_prune(const char *path, int64_t view);
void ens_tree_stat(const struct ens_rev *r, struct Stat *out);
void ens_rev_copy(struct ens_rev *to, const struct ens_rev *from);
void ens_rev_clear(struct ens_rev *r);
size_t ens_path_dir(const char *path); /* Length of the parent's path. */
bool ens_path_valid(const char *path);

/* ens_prep.c */
struct ens_op *ens_op_add(struct ens_txn *t, int32_t op, const char *path);
const struct ens_rev *ens_prep_look(const char *path);
/* Of the directory of `path`, whose name is the caller's to free. */
const struct ens_rev *ens_prep_look_dir(const char *path, char **dir);
void ens_prep_record(const char *path, int64_t zxid, const struct ens_rev *rev);
void ens_prep_committed(int64_t zxid); /* Forgets what is in the tree now. */
/* Makes the operations.  server -1: an operator's, who may do everything. */
void ens_prep(struct ens_txn *t, const struct wire_msg *m,
              const struct ens_auth *auth, int server);

/* ens_close.c */
void ens_prep_close(struct ens_txn *t);

/* ens_apply.c */
void ens_apply(struct ens_txn *t);

/* ens_read.c */
struct wire_msg *ens_read(int conn, const struct wire_msg *m);

/* ens_watch.c */
void ens_watch_add(int conn, const char *path, bool children);
/* type as of the protocol: 1 children, 2 data, 3 any.  Was there one? */
bool ens_watch_remove(int conn, const char *path, int type);
/* Of anybody at this server: 3.8.0 does not look whose watch it is. */
bool ens_watch_check(int server, const char *path, int type);
void ens_watch_clear(int conn);
/* The events of a transaction for the clients of this server. */
void ens_watch_fire(int server, const struct ens_txn *t);

/* ens_session.c */
struct ens_session *ens_session_find(int64_t id);
int ens_session_check(int64_t id, int server); /* 0, or the error. */
bool ens_session_touch(int64_t id, int32_t timeout_ms);
void ens_session_track(int64_t id, int32_t timeout_ms, int server);
void ens_session_remove(int64_t id);
void ens_session_close(int64_t id); /* The leader does it. */
void ens_session_connect(int conn, const struct wire_msg *m);
void ens_session_opened(int conn, bool valid);
int64_t ens_session_due(void);
void ens_session_expire(int64_t now);
bool ens_session_heard(int conn); /* Its client is alive.  False: refused. */
void ens_session_report(int server);
void ens_session_arrived(const struct ens_letter *l);

/* ens_link.c */
struct ens_letter *ens_letter_new(enum ens_kind kind, int64_t session,
                                  const struct ens_origin *from);
void ens_letter_free(struct ens_letter *l);
void ens_link_up(int server, struct ens_letter *l);
void ens_link_down(int server, struct ens_letter *l);
int64_t ens_link_due(int server, bool up);
void ens_link_arrive(int server, bool up);
void ens_link_drop(int server);
void ens_link_rejoin(int server);

/* ens_flow.c */
/* The leader's: prepares and proposes.  Takes none of its arguments over. */
void ens_propose(const struct ens_origin *from, int64_t session,
                 const struct wire_msg *m, const struct ens_auth *auth);
struct ens_txn *ens_txn_new(int32_t op, int64_t session,
                            const struct ens_origin *from);
void ens_txn_propose(struct ens_txn *t);
void ens_txn_free(struct ens_txn *t);
void ens_leader_sync(struct ens_letter *l); /* Takes it over. */
void ens_deliver(int server, struct ens_txn *t);
void ens_retire(void);

/* ens_fault.c */
void ens_copy_committed(int64_t zxid);
void ens_copy_deleted(const char *path, int64_t czxid,
                      const struct ens_origin *from, uint8_t knows);

/* A transaction that was sent when so much had been heard changes something on
 * the word that its own znode is there. */
void ens_copy_trusted(int64_t czxid, const struct ens_origin *from,
                      int64_t heard);

/* The transaction deletes a znode; `heard`: of all up to that one its process
 * had heard when it sent the transaction. */
void ens_deleted(const char *path, const struct ens_rev *node,
                 const struct ens_txn *t, int64_t heard);

/* ens.c */
extern const struct ens_origin ens_nobody;
bool ens_reachable(const struct ens_origin *o); /* Its connection is there. */
void ens_hang_up(int conn);
void ens_hang_up_session(int server, int64_t session);
void ens_reply(int conn, struct wire_msg *m); /* With the zxid put in. */
void ens_answered(int server, const struct ens_origin *o); /* Out of order's
                                                              way. */
void ens_pending_clear(int server);

#endif
