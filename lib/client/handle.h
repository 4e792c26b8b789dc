/* The connection, as its files know it: the handle (client/handle.c), what is
 * asked of it (client/calls.c), transactions (client/multi.c).  They alone know
 * zookeeper.h. */
#ifndef EVZK_CLIENT_OWN_H
#define EVZK_CLIENT_OWN_H

#include "lib/base/greeting.h"
#include "lib/client/client.h"

#include <sys/queue.h>
#include <zookeeper/zookeeper.h>

struct evzk__client {
    zhandle_t *zh;
    int fd; /* As last told; see evzk__client_fd(). */
    /* Ours, for the same socket: the loop watches it, and lets go of it before
     * it is closed.  And the one of the attempt before. */
    int own, old;
    int64_t begun;
    uint32_t attempts, refused; /* refused: without a socket. */
    int64_t
        say_at; /* When the log may say again that descriptors are missing. */
    int64_t heard; /* When it last had something to read. */
    bool dead;
    bool lost;        /* The connection is, and the handle is not told. */
    bool stranger;    /* The server is no ZooKeeper; see greeting.why. */
    bool skipping;    /* It is given up, and that was told. */
    int64_t patience; /* A server that does not greet for so long is. */
    struct evzk__greeting greeting;
    struct evzk__client_hooks hooks;
    void *arg;
    struct evzk__slot *free;
    LIST_HEAD(, evzk__multi) multis; /* It may yet write to them. */
    unsigned slots;
    struct evzk__slot slot[];
};

struct evzk__multi {
    LIST_ENTRY(evzk__multi) link;
    struct evzk__slot *slot; /* NULL: refused, and yet it may be answered. */
    bool sent, orphan; /* The client has it; its owner does not want it. */
    zoo_op_t *op;
    zoo_op_result_t *result;
    unsigned n;
    int rc; /* Of it all. */
    char *text, *next;
    struct Stat stamp;
    struct ACL entries[EVZK_ACL_MAX];
    struct ACL_vector acl, open;
};

/* The client's log callback has no context: between these, this one is talking.
 */
struct evzk__client *evzk__client_enter(struct evzk__client *c);
void evzk__client_leave(struct evzk__client *before);

/* What a call, and what an answer, says in our words. */
int evzk__client_error(int zrc);
int evzk__client_answer(int zrc);

/* The one watcher of the session. */
void evzk__client_watcher(zhandle_t *zh, int type, int state, const char *path,
                          void *arg);

/* The answer to what a slot was sent with, which is free then. */
void evzk__client_complete(const void *tag, struct evzk__result *res);
void evzk__client_done(int rc, const void *tag);

struct ACL_vector evzk__client_acl(const evzk_acl *acl, size_t n,
                                   struct ACL entries[]);

/* The client will not write to it any more. */
void evzk__multi_return(struct evzk__multi *m);

#endif
