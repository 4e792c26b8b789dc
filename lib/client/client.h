/* One connection of the ZooKeeper C client.  Only lib/client includes
 * zookeeper.h.
 *
 * A handle lives as long as one connection.  When the connection is lost, the
 * session throws the handle away, and a new handle goes on with the session's
 * id.  So the client never sends a request again behind our back, never sends
 * all of its watches in one packet, and no late answer can be taken for a new
 * one: see doc/client-facts.md.
 *
 * A completion may call the requests, and no other function here. */
#ifndef EVZK_CLIENT_H
#define EVZK_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evzk/session.h"
#include "lib/base/name.h"

struct evzk__stat {
    int64_t czxid, mzxid, pzxid, owner, ctime_ms, mtime_ms;
    int32_t version, cversion, children, data_len;
};

/* The result of a request; all pointers are borrowed for the call. */
struct evzk__result {
    int rc; /* EVZK_ERR_CONNLOSS: done or not, unknown. */
    const char *path;
    const void *data;
    size_t len;
    struct evzk__names names;
    struct evzk__stat stat;          /* Of a transaction: its zxid, as czxid. */
    const struct evzk__multi *multi; /* The transaction, if it was one, .. */
    unsigned first_op; /* .. and its first operation that is the request's. */
};

/* A request in flight, and the context that the C client has of it.  `owner`
 * belongs to the request layer. */
struct evzk__slot {
    struct evzk__client *client;
    void *owner;
    unsigned part;
    struct evzk__slot *next; /* In the list of free slots. */
};

enum evzk__watch_event {
    EVZK__DELETED,
    EVZK__CHANGED, /* Its data has changed, or the znode was created. */
    EVZK__CHILDREN
};

struct evzk__client_hooks {
    void (*completed)(void *arg, struct evzk__slot *slot,
                      const struct evzk__result *res);
    void (*watched)(void *arg, const char *path, enum evzk__watch_event ev);
    void (*log)(void *arg, evzk_log_level level, const char *line);
    /* An attempt to connect failed; `why` is the client's message.  NULL: the
     * message goes to the log. */
    void (*failed)(void *arg, const char *why);
    /* A server was given up, since it sent no greeting for `ms`. */
    void (*silent)(void *arg, const char *server, uint32_t ms);
};

struct evzk__client_config {
    const char *servers; /* Numeric addresses only: nothing is resolved. */
    uint32_t timeout_ms;
    uint32_t patience_ms; /* The time that each server has for its greeting. */
    int64_t id;           /* 0: a new session. */
    unsigned char passwd[16];
    unsigned slots;
    struct evzk__client_hooks hooks;
    void *arg;
};

/* The line in the log while all descriptors of the process are in use. */
#define EVZK__NO_DESCRIPTOR                                                    \
    "no descriptor is free (RLIMIT_NOFILE): the session cannot connect"

enum evzk__client_state {
    EVZK__CLIENT_DOWN,
    EVZK__CLIENT_UP,
    EVZK__CLIENT_EXPIRED,
    EVZK__CLIENT_AUTH_FAILED,
    EVZK__CLIENT_STRANGER /* The server is no ZooKeeper.  Free the handle. */
};

/* NULL: out of memory, or an address that is none (EVZK_ERR_INVAL in *rc). */
struct evzk__client *evzk__client_new(const struct evzk__client_config *cfg,
                                      int *rc);

/* Cuts the connection, so that nothing more is sent or heard.  The loop must
 * have stopped to watch its descriptor: a forked child may still have the
 * socket, and then the descriptor would stay ready. */
void evzk__client_hang_up(struct evzk__client *c);

/* The same in a forked child, which may share the loop with its parent. */
void evzk__client_deaden(struct evzk__client *c);

/* Ends the handle at once: it sends nothing, waits for nothing and calls no
 * hook. Requests in flight are dropped: take them out with
 * evzk__client_next_slot() before. */
void evzk__client_free(struct evzk__client *c);

enum evzk__client_state evzk__client_state(const struct evzk__client *c);

/* Asks the client what to wait for: *fd (-1: nothing), *what (EVZK__READ,
 * EVZK__WRITE) and for how long at most.  May lose the connection, or begin to
 * connect. */
void evzk__client_interest(struct evzk__client *c, int *fd, int *what,
                           int64_t *wait_us);

/* Reads one packet or writes what is queued, as the descriptor is ready.  True:
 * there may be more to read. */
bool evzk__client_process(struct evzk__client *c, int what);

/* The descriptor that the loop watches; -1: none.  It stays open until the next
 * evzk__client_interest() or evzk__client_hang_up(), whatever the client
 * closes. */
int evzk__client_fd(const struct evzk__client *c);
int64_t evzk__client_begun(const struct evzk__client *c); /* Latest attempt. */
uint32_t evzk__client_attempts(const struct evzk__client *c); /* So far. */
/* How many servers it has tried in vain.  The session begins a new handle when
 * all have been tried: of an even number of servers the client itself would try
 * every other one again, and never the rest. */
uint32_t evzk__client_failures(const struct evzk__client *c);
/* The server of the latest attempt, as "address:port"; and, if the server is no
 * ZooKeeper, what is wrong with its greeting.  Valid until the next call. */
const char *evzk__client_server(const struct evzk__client *c);
const char *evzk__client_why(const struct evzk__client *c);
int64_t evzk__client_id(const struct evzk__client *c, unsigned char passwd[16]);
uint32_t evzk__client_timeout_ms(const struct evzk__client *c);

/* Takes a free slot; NULL: all are in flight. */
struct evzk__slot *evzk__client_slot(struct evzk__client *c);
void evzk__client_slot_free(struct evzk__slot *slot);

/* The slots in flight, one after another; start with NULL. */
struct evzk__slot *evzk__client_next_slot(struct evzk__client *c,
                                          struct evzk__slot *after);

/* The requests.  0: the hook `completed` will be called once with the slot;
 * after that the slot is free again.  An error: the slot was not used.
 * EVZK_ERR_INVAL: a path that no request can be about. */
enum evzk__mode {
    EVZK__PERSISTENT,
    EVZK__EPHEMERAL,
    EVZK__PERSISTENT_SEQUENTIAL,
    EVZK__EPHEMERAL_SEQUENTIAL,
    EVZK__CONTAINER /* Not in a transaction: the client misreads the answer. */
};
int evzk__client_create(struct evzk__slot *slot, const char *path,
                        const void *data, size_t len, const evzk_acl *acl,
                        size_t acl_count, enum evzk__mode mode);
int evzk__client_get(struct evzk__slot *slot, const char *path, bool watch);
/* With a watch on the znode's creation, data and end, there or not. */
int evzk__client_exists(struct evzk__slot *slot, const char *path, bool watch);
int evzk__client_children(struct evzk__slot *slot, const char *path);
/* Is the znode there?  Sets a watch on its end, which no write to it fires: the
 * watch is on its children, and it never has any. */
int evzk__client_guard(struct evzk__slot *slot, const char *path);
/* The names of the children, and a watch on children that come or go. */
int evzk__client_watch_children(struct evzk__slot *slot, const char *path);
int evzk__client_set(struct evzk__slot *slot, const char *path,
                     const void *data, size_t len, int64_t version);
/* EVZK__NO_VERSION: no znode ever has this version, so that the delete must
 * fail.  EVZK__ANY_VERSION: the znode may have any.
 *
 * A znode's version has 32 bits, wraps, and comes to -1.  What servers are told
 * as -1 means any version.  So -1, when it is a version that was read, is never
 * sent: in the place of the write there are two operations of one transaction,
 * a write in any version, and one that requires that it has left version 0,
 * which comes behind -1.  (Servers from 3.10 on leave -1 out.)  A check alone
 * writes nothing, and so cannot require -1: it fails. */
enum { EVZK__NO_VERSION = INT32_MAX };
#define EVZK__ANY_VERSION INT64_MIN
int evzk__client_delete(struct evzk__slot *slot, const char *path,
                        int64_t version);
int evzk__client_sync(struct evzk__slot *slot, const char *path);
/* Takes the watch off `path`, on the server too: that of evzk__client_get()
 * (data) or of evzk__client_guard(). */
int evzk__client_unwatch(struct evzk__slot *slot, const char *path, bool data);

/* A transaction: several writes, all done or none.  Each operation names a
 * directory's path and a name in it; NULL: the directory itself. */
struct evzk__multi;

/* Makes room for so many operations with so many bytes of paths.  Every znode
 * that it creates has this ACL.  NULL: out of memory. */
struct evzk__multi *evzk__multi_new(unsigned ops, size_t text,
                                    const evzk_acl *acl, size_t acl_count);
/* The same, but each create has an ACL of its own; `entries` in all. */
struct evzk__multi *evzk__multi_mixed(unsigned ops, size_t text,
                                      size_t entries);
/* A transaction that is on its way is freed when it has been answered. */
void evzk__multi_free(struct evzk__multi *m);
void evzk__multi_mkdir(struct evzk__multi *m, const char *dir, const char *data,
                       size_t len);
void evzk__multi_create_seq(struct evzk__multi *m, const char *dir,
                            const char *name, const void *data, size_t len);
/* Ephemeral, with a number or without. */
void evzk__multi_create_name(struct evzk__multi *m, const char *dir,
                             const char *name, const void *data, size_t len);
/* For evzk__multi_mixed() only; the mode is not EVZK__CONTAINER. */
void evzk__multi_create(struct evzk__multi *m, const char *path,
                        const void *data, size_t len, const evzk_acl *acl,
                        size_t acl_count, enum evzk__mode mode);
void evzk__multi_set(struct evzk__multi *m, const char *path, const void *data,
                     size_t len, int64_t version);
/* Fails, and the transaction with it, unless the znode is there, in this
 * version. */
void evzk__multi_check(struct evzk__multi *m, const char *dir, const char *name,
                       int64_t version);
void evzk__multi_delete(struct evzk__multi *m, const char *dir,
                        const char *name, int64_t version);
/* Deletes a directory to which nobody has written: of version 0. */
void evzk__multi_rmdir(struct evzk__multi *m, const char *dir);

/* Creates a znode <dir>/<name><tag>, writes to it, and deletes it.  So the
 * answer has the transaction's zxid, whatever the ACL.  Three operations. */
void evzk__multi_stamp(struct evzk__multi *m, const char *dir, const char *name,
                       const char *tag);

/* Sends the transaction.  It must live until the hook is called; but it may be
 * given to evzk__multi_free() at any time.  EVZK_ERR_INVAL: one of its paths is
 * none, and nothing was sent. */
int evzk__client_multi(struct evzk__slot *slot, struct evzk__multi *m);

/* After the answer: which operation failed, and why.  False: none failed, or
 * the outcome is unknown. */
bool evzk__multi_failed(const struct evzk__multi *m, unsigned *op, int *rc);
/* 0: unknown, since no operation wrote to a znode. */
int64_t evzk__multi_zxid(const struct evzk__multi *m);
/* The path of the znode that an operation created, or NULL. */
const char *evzk__multi_path(const struct evzk__multi *m, unsigned op);

/* Takes a watch out of a client that is not connected; nothing is sent. */
void evzk__client_forget(struct evzk__client *c, const char *path, bool data);

/* Shows credentials: before the handle is first used, or while connected. */
int evzk__client_auth(struct evzk__client *c, const char *scheme,
                      const char *cert, size_t len);

#endif
