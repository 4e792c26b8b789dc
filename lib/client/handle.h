/* The connection, as its files know it: the handle (client/handle.c), its
 * socket (client/socket.c), its log (client/log.c), what is asked of it
 * (client/calls.c), transactions (client/multi.c).  They alone know
 * zookeeper.h. */
#ifndef EVZK_CLIENT_HANDLE_H
#define EVZK_CLIENT_HANDLE_H

#include "lib/base/greeting.h"
#include "lib/client/client.h"

#include <sys/queue.h>
#include <zookeeper/zookeeper.h>

struct evzk__client {
    zhandle_t *zh;
    int fd; /* The socket, as the client last told it. */
    /* Our own descriptor for the same socket.  The loop watches it, and stops
     * before it is closed.  `old` is that of the attempt before. */
    int own, old;
    int64_t begun;
    uint32_t attempts, refused; /* refused: without a socket. */
    int64_t
        say_at; /* When the log may say again that descriptors are missing. */
    int64_t heard;    /* When the socket last had something to read. */
    bool dead;        /* Being freed: no hook is called. */
    bool lost;        /* The connection is lost; the handle does not know. */
    bool stranger;    /* The server is no ZooKeeper; see greeting.why. */
    bool skipping;    /* The server is being given up. */
    int64_t patience; /* A server has so long for its greeting. */
    struct evzk__greeting greeting;
    struct evzk__client_hooks hooks;
    void *arg;
    struct evzk__slot *free;
    LIST_HEAD(, evzk__multi) multis; /* The client may still write to them. */
    unsigned slots;
    struct evzk__slot slot[];
};

struct evzk__pairs {
    unsigned n;
    zoo_op_t *op;
    zoo_op_result_t *result;
};

struct evzk__multi {
    LIST_ENTRY(evzk__multi) link;
    struct evzk__slot *slot; /* NULL: the call failed; an answer may come. */
    bool sent, orphan; /* The client has it; its owner has let go of it. */
    zoo_op_t *op;
    zoo_op_result_t *result;
    unsigned n;
    bool *last; /* By operation: the znode must be in the version -1. */
    struct evzk__pairs *pairs; /* Sent in the place of those; or NULL. */
    bool single;               /* The answer is that of a single write. */
    int rc;                    /* The result of the whole transaction. */
    char *text, *next;
    struct Stat stamp; /* Of the last write to a znode in it. */
    struct ACL entries[EVZK_ACL_MAX];
    struct ACL_vector acl, open;
    struct ACL_vector *own; /* MIXED: each create's, by operation, .. */
    struct ACL *entry;      /* .. and the next ones that are free. */
};

/* The client's log callback has no context.  Between these two calls its lines
 * belong to this connection. */
struct evzk__client *evzk__client_enter(struct evzk__client *c);
void evzk__client_leave(struct evzk__client *before);
void evzk__client_logged(const char *line); /* The client's log callback. */

/* The EVZK_ERR_* code for the result of a call, and of an answer. */
int evzk__client_error(int zrc);
int evzk__client_answer(int zrc);

/* The only watcher of the handle. */
void evzk__client_watcher(zhandle_t *zh, int type, int state, const char *path,
                          void *arg);

/* Hands an answer to the request layer, and frees its slot. */
void evzk__client_complete(const void *tag, struct evzk__result *res);
void evzk__client_done(int rc, const void *tag);

int evzk__client_mode(enum evzk__mode mode); /* In the client's words. */
struct ACL_vector evzk__client_acl(const evzk_acl *acl, size_t n,
                                   struct ACL entries[]);

void evzk__client_set_stat(struct evzk__result *res, const struct Stat *stat);

/* client/multi.c: the same write, to a znode of the version -1. */
int evzk__client_set_last(struct evzk__slot *slot, const char *path,
                          const void *data, size_t len);
int evzk__client_delete_last(struct evzk__slot *slot, const char *path);

void evzk__multi_destroy(struct evzk__multi *m);
/* The client will not write to the transaction any more. */
void evzk__multi_return(struct evzk__multi *m);

#endif
