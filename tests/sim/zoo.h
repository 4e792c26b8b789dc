/* The simulated C client, seen by its own files.
 *
 * It stands in for libzookeeper_st 3.8.0, at the level of its functions: what
 * its caller can see is the same, call by call, with its faults; what goes to
 * the server is a wire_msg instead of bytes.  Only what the real client makes
 * when it is asked for something can fail for want of memory; where the real
 * one would assert, or read a half packet for ever, memory does not run out. */
#ifndef SIM_ZOO_H
#define SIM_ZOO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

#include "wire.h"

/* Off: a call that fails for want of memory leaves nothing behind.  On: as the
 * real client, when the second of its allocations fails: the completion waits
 * for the answer to what was never sent, and is called with an error when
 * another's answer comes in its place. */
extern bool zoo__orphans;

enum { ZOO__SERVERS = 8, ZOO__PING_XID = -2, ZOO__AUTH_XID = -4 };

enum zoo__table { ZOO__NODES, ZOO__MISSING, ZOO__CHILDREN };

struct zoo__watch {
    struct zoo__watch *next;
    watcher_fn fn;
    void *ctx;
    enum zoo__table table;
    char path[];
};

enum zoo__answer {
    ZOO__VOID,
    ZOO__STAT,
    ZOO__DATA,
    ZOO__STRINGS,
    ZOO__STRINGS_STAT,
    ZOO__STRING,
    ZOO__STRING_STAT,
    ZOO__ACL,
    ZOO__MULTI,
    ZOO__EVENT
};

union zoo__fn {
    void_completion_t done;
    stat_completion_t stat;
    data_completion_t data;
    strings_completion_t strings;
    strings_stat_completion_t strings_stat;
    string_completion_t string;
    string_stat_completion_t string_stat;
    acl_completion_t acl;
};

/* A request that waits for its answer, an answer, or an event. */
struct zoo__entry {
    struct zoo__entry *next;
    enum zoo__answer kind;
    int32_t xid;
    int rc;
    union zoo__fn fn;
    const void *data;
    struct wire_msg *reply;   /* NULL: none came, see rc. */
    struct zoo__watch *watch; /* Active when answered; EVENT: to be told. */
    int type, state;          /* EVENT: what happened. */
    /* When answered with ZOK these go: of this type, at this path. */
    ZooWatcherType unwatch;
    watcher_fn unwatch_fn;
    void *unwatch_ctx;
    zoo_op_result_t *results;
    int n_results;
    char tail[]; /* MULTI: the operations; else the path of unwatch. */
};

struct zoo__queue {
    struct zoo__entry *head, *last;
};

struct zoo__auth {
    struct zoo__auth *next;
    void_completion_t done; /* NULL: told, or nobody wants to know. */
    const void *data;
    int len;
    char *cert;
    char scheme[];
};

struct _zhandle {
    int proc, state;
    int conn; /* On the wire; -1: no socket. */
    int recv_timeout;
    int server; /* Of the latest attempt; and its name. */
    char current[32];
    int n_servers, next_server, next_new;
    int servers[ZOO__SERVERS];
    int refs; /* Calls that are under way. */
    bool delay, seen, close_requested;
    bool fresh; /* Not connected yet, nor all servers tried. */
    watcher_fn watcher;
    void *context;
    log_callback_fn log;
    clientid_t id;
    int64_t last_zxid, last_recv, last_send;
    int32_t xid;
    struct wire_msg *to_send;
    struct zoo__queue sent, done;
    struct zoo__watch *watches; /* Newest first. */
    struct zoo__auth *auths;    /* Oldest first. */
};

/* zoo.c */
void zoo__prolog(zhandle_t *zh);
int zoo__epilog(zhandle_t *zh, int rc); /* May free the handle. */
bool zoo__connected(const zhandle_t *zh);
void zoo__lost(zhandle_t *zh, int rc); /* Closes, tells, goes on. */
int zoo__socket_error(zhandle_t *zh, int rc);
void zoo__hang_up(zhandle_t *zh);
int zoo__prime(zhandle_t *zh);
void zoo__log(zhandle_t *zh, const char *level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* zoo_send.c */
void zoo__put(zhandle_t *zh, struct wire_msg *m, bool front);
int zoo__flush(zhandle_t *zh); /* ZOK, or ZCONNECTIONLOSS. */
void zoo__drop_unsent(zhandle_t *zh);
int zoo__ping(zhandle_t *zh);
int zoo__check(const zhandle_t *zh, const char *path, int mode);
struct zoo__call {
    int op;
    const char *path;
    enum zoo__answer kind;
    union zoo__fn fn;
    const void *data;
    watcher_fn watcher; /* NULL: no watch. */
    void *ctx;
    enum zoo__table table;
    size_t tail; /* Bytes of the entry's tail. */
};
/* ZOK: *e is queued, *m is to be filled in and launched. */
int zoo__begin(zhandle_t *zh, const struct zoo__call *c, struct wire_msg **m,
               struct zoo__entry **e);
int zoo__launch(zhandle_t *zh, struct wire_msg *m);
void zoo__set_data(struct wire_msg *m, const char *data, int len);

/* zoo_auth.c */
void zoo__auth_send(zhandle_t *zh, const struct zoo__auth *a);
void zoo__auth_told(zhandle_t *zh, int rc);
void zoo__auth_free(zhandle_t *zh);

/* zoo_answer.c */
void zoo__queue_add(struct zoo__queue *q, struct zoo__entry *e, bool front);
struct zoo__entry *zoo__queue_take(struct zoo__queue *q);
void zoo__queue_event(zhandle_t *zh, struct wire_msg *m, int type, int state);
void zoo__fail_all(zhandle_t *zh, int rc); /* All that was sent. */
void zoo__entry_free(struct zoo__entry *e);
void zoo__complete(zhandle_t *zh); /* Calls back all that is done. */

/* zoo_watch.c */
struct zoo__watch *zoo__watch_new(const char *path, enum zoo__table table,
                                  watcher_fn fn, void *ctx); /* May fail. */
void zoo__watch_answered(zhandle_t *zh, struct zoo__entry *e, int rc);
bool zoo__watch_has(const zhandle_t *zh, const char *path, ZooWatcherType type,
                    watcher_fn fn, const void *ctx);
void zoo__watch_remove(zhandle_t *zh, const char *path, ZooWatcherType type,
                       watcher_fn fn, const void *ctx);
/* Takes out who is to be told.  Of a session event: copies, which are freed
 * alike. */
struct zoo__watch *zoo__watch_collect(zhandle_t *zh, int type,
                                      const char *path);
void zoo__watch_free(struct zoo__watch *list);

#endif
