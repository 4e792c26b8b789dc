/* One connection of the ZooKeeper C client: the only place that knows
 * zookeeper.h.
 *
 * A handle lives as long as one connection.  When the connection is lost the
 * handle is thrown away, and a new one goes on with the session's id.  So the
 * client never re-sends a request behind our back, never sends its watches
 * again in one packet, and nothing it still has can be mistaken for an answer.
 *
 * None of these may be called from a completion but the requests. */
#ifndef EVZK_CLIENT_H
#define EVZK_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evzk/session.h"
#include "lib/base/name.h"

struct evzk__stat {
    int64_t czxid, mzxid, pzxid, owner, ctime_ms;
    int32_t version, cversion, children, data_len;
};

/* What came back; all pointers are borrowed for the call. */
struct evzk__result {
    int rc; /* EVZK_ERR_CONNLOSS: the outcome is unknown. */
    const char *path;
    const void *data;
    size_t len;
    struct evzk__names names;
    struct evzk__stat stat;
};

/* A request in flight.  `owner` is the request layer's. */
struct evzk__slot {
    struct evzk__client *client;
    void *owner;
    unsigned part;
    struct evzk__slot *next; /* In the list of free ones. */
};

enum evzk__watch_event {
    EVZK__DELETED,
    EVZK__CHANGED, /* Or it has come. */
    EVZK__CHILDREN
};

struct evzk__client_hooks {
    void (*completed)(void *arg, struct evzk__slot *slot,
                      const struct evzk__result *res);
    void (*watched)(void *arg, const char *path, enum evzk__watch_event ev);
    void (*log)(void *arg, evzk_log_level level, const char *line);
    /* An attempt to connect failed: why, in the client's words.  NULL: that is
     * in the log. */
    void (*failed)(void *arg, const char *why);
    /* A server was given up: it has not greeted for so long. */
    void (*silent)(void *arg, const char *server, uint32_t ms);
};

struct evzk__client_config {
    const char *servers; /* Numeric addresses only: nothing is resolved. */
    uint32_t timeout_ms;
    uint32_t patience_ms; /* Each server is given so long to greet. */
    int64_t id;           /* 0: a new session. */
    unsigned char passwd[16];
    unsigned slots;
    struct evzk__client_hooks hooks;
    void *arg;
};

/* What the log says while no connection can be made for want of descriptors. */
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
 * not watch its descriptor any more: a child of a fork may still have the
 * socket, and then it would go on being ready. */
void evzk__client_hang_up(struct evzk__client *c);

/* The same in the child of a fork, where the loop may be the parent's, too. */
void evzk__client_deaden(struct evzk__client *c);

/* Ends the handle at once: nothing more is sent, nothing is waited for, and no
 * hook is called.  What is in flight is dropped; see evzk__client_slots(). */
void evzk__client_free(struct evzk__client *c);

enum evzk__client_state evzk__client_state(const struct evzk__client *c);

/* Asks what to wait for: *fd (-1: nothing), *what (EVZK__READ, EVZK__WRITE) and
 * for how long at most.  May lose the connection, or begin a new one. */
void evzk__client_interest(struct evzk__client *c, int *fd, int *what,
                           int64_t *wait_us);

/* Does what the descriptor is ready for.  True: there may be more to read. */
bool evzk__client_process(struct evzk__client *c, int what);

/* What the loop watches; -1 while there is none.  It stays open until the next
 * evzk__client_interest(), or hang_up(), whatever the client closes. */
int evzk__client_fd(const struct evzk__client *c);
int64_t evzk__client_begun(const struct evzk__client *c); /* Latest attempt. */
uint32_t evzk__client_attempts(const struct evzk__client *c); /* So far. */
/* How many servers it has tried in vain: of an even number of them the client
 * would try every other one again, and none of the rest. */
uint32_t evzk__client_failures(const struct evzk__client *c);
/* The server of the latest attempt, as "address:port"; and, of a stranger, what
 * is wrong with it.  Valid until the next call. */
const char *evzk__client_server(const struct evzk__client *c);
const char *evzk__client_why(const struct evzk__client *c);
int64_t evzk__client_id(const struct evzk__client *c, unsigned char passwd[16]);
uint32_t evzk__client_timeout_ms(const struct evzk__client *c);

/* Takes a slot, or NULL when all are in flight. */
struct evzk__slot *evzk__client_slot(struct evzk__client *c);
void evzk__client_slot_free(struct evzk__slot *slot);

/* The slots in flight, one after another; start with NULL. */
struct evzk__slot *evzk__client_next_slot(struct evzk__client *c,
                                          struct evzk__slot *after);

/* The requests.  0: the hook `completed` will be called, once, with the slot,
 * which is free again after it.  Else an error, and the slot is not used. */
enum evzk__create {
    EVZK__CREATE_SEQ,
    EVZK__CREATE_CONTAINER,
    EVZK__CREATE_DIR
};
int evzk__client_create(struct evzk__slot *slot, const char *path,
                        const void *data, size_t len, const evzk_acl *acl,
                        size_t acl_count, enum evzk__create mode);
int evzk__client_get(struct evzk__slot *slot, const char *path, bool watch);
/* With a watch on all that becomes of it, also when it is not there. */
int evzk__client_exists(struct evzk__slot *slot, const char *path, bool watch);
int evzk__client_children(struct evzk__slot *slot, const char *path);
/* Is it there?  And a watch on its end, which what is written to it does not
 * fire: that on the children it never has. */
int evzk__client_guard(struct evzk__slot *slot, const char *path);
/* The names, and a watch on who comes and goes. */
int evzk__client_roster(struct evzk__slot *slot, const char *path);
int evzk__client_set(struct evzk__slot *slot, const char *path,
                     const void *data, size_t len, int32_t version);
/* A delete that must fail: no znode is written to so often. */
int evzk__client_settle(struct evzk__slot *slot, const char *path);
int evzk__client_delete(struct evzk__slot *slot, const char *path);
/* Not if it was written to. */
int evzk__client_rmdir(struct evzk__slot *slot, const char *path);
int evzk__client_sync(struct evzk__slot *slot, const char *path);
/* Takes the watch off `path`, on the server too: that of get, or of guard. */
int evzk__client_unwatch(struct evzk__slot *slot, const char *path, bool data);

/* Several writes as one: all are done, or none.  What is added is a directory's
 * path and a name in it, which may be NULL for the directory itself. */
struct evzk__multi;

/* For so many operations, with so many bytes of paths; what it makes has this
 * ACL.  NULL: out of memory. */
struct evzk__multi *evzk__multi_new(unsigned ops, size_t text,
                                    const evzk_acl *acl, size_t acl_count);
void evzk__multi_free(struct evzk__multi *m);
void evzk__multi_mkdir(struct evzk__multi *m, const char *dir, const char *data,
                       size_t len);
void evzk__multi_create_seq(struct evzk__multi *m, const char *dir,
                            const char *name, const void *data, size_t len);
/* Ephemeral, with a number or without. */
void evzk__multi_create_name(struct evzk__multi *m, const char *dir,
                             const char *name, const void *data, size_t len);
/* Does nothing, but fails without it. */
void evzk__multi_check(struct evzk__multi *m, const char *dir,
                       const char *name);
void evzk__multi_delete(struct evzk__multi *m, const char *dir,
                        const char *name, int32_t version);
/* Not if it was written to. */
void evzk__multi_rmdir(struct evzk__multi *m, const char *dir);

/* Makes a znode <dir>/<name><tag>, writes to it, and deletes it: whatever the
 * ACL, the answer has the transaction's zxid.  Three operations. */
void evzk__multi_stamp(struct evzk__multi *m, const char *dir, const char *name,
                       const char *tag);

/* Sends it; it must live until the hook is called. */
int evzk__client_multi(struct evzk__slot *slot, struct evzk__multi *m);

/* When it was answered: which operation failed, and why.  False: none did, or
 * nobody knows. */
bool evzk__multi_failed(const struct evzk__multi *m, unsigned *op, int *rc);
int64_t evzk__multi_zxid(const struct evzk__multi *m);
/* The path that an operation made, or NULL. */
const char *evzk__multi_path(const struct evzk__multi *m, unsigned op);

/* Takes a watch out of the client alone: of one that is not connected. */
void evzk__client_forget(struct evzk__client *c, const char *path, bool data);

/* Credentials; before the handle is first used, and while connected. */
int evzk__client_auth(struct evzk__client *c, const char *scheme,
                      const char *cert, size_t len);

#endif
