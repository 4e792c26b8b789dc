/* The network between clients and servers: connections, and the messages on
 * their way.  A connection keeps the order of its messages in each direction;
 * each takes WIRE_US, longer while the direction is held.  Messages are in the
 * area SIM_OUTSIDE. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

enum { WIRE_CONNS = 24, WIRE_FD = 1000, WIRE_US = 1000 };

/* A request, a reply, or a watch event.  `op` is the protocol's code of the
 * request (zookeeper/proto.h: ZOO_CREATE_OP, ...), in a reply that of what it
 * answers, and one of these. */
enum { WIRE_CONNECT = -10, WIRE_CLOSE = -11, WIRE_EVENT = 0, WIRE_PING = 11 };

struct wire_msg {
    struct wire_msg *next;
    int64_t due; /* When it arrives. */
    int32_t op, xid;
    int32_t rc;   /* Reply: ZOK, ZNONODE, ... */
    int64_t zxid; /* Reply: the newest that the server has applied. */
    /* The same, of watch events too; of a request the newest that its process
     * has heard of: for the rules alone. */
    int64_t behind;
    int64_t knew;  /* Request: what wire_knew() said. */
    bool denied;   /* Request: an operator has taken its rights away. */
    uint8_t knows; /* Request: the copies that its process has read of, too. */
    /* Owned by the message, all in SIM_OUTSIDE; NULL or empty if not used. */
    char *path; /* Reply to create: the path made. */
    char *data; /* Data; of setAuth the credential. */
    int32_t len;
    char *scheme; /* setAuth. */
    struct ACL_vector acl;
    char **names; /* Reply: children, in the server's order. */
    int32_t n_names;
    struct wire_msg *ops; /* multi: the operations, or their results. */
    /* The rest by value. */
    int32_t flags;   /* create: as of zoo_acreate(). */
    int32_t version; /* delete, setData, check, setACL. */
    int32_t type;    /* Watch event; or the watch type to remove or check. */
    bool watch;
    struct Stat stat;
    int64_t session; /* connect, and its reply (0: expired). */
    char passwd[16];
    int32_t timeout_ms;
    int64_t last_zxid; /* connect: the newest that the client has seen. */
};

struct wire_msg *wire_msg_new(int32_t op, int32_t xid);
void wire_msg_free(struct wire_msg *m); /* With all it owns. NULL: no-op. */
void wire_msg_acl(struct wire_msg *m, const struct ACL_vector *acl); /* Copy. */
void wire_msg_say(const struct wire_msg *m, char *buf, size_t size);
const char *wire_op_name(int32_t op);

/* The client's end, for the running process.  -1: no room (a violation). */
int wire_open(int server); /* The connection's number; it connects from now. */
enum wire_state {
    WIRE_CONNECTING,
    WIRE_UP,
    WIRE_BROKEN /* Refused, reset, or closed by the server and read up. */
};
enum wire_state wire_state(int conn);
/* Sees each request that the client has taken over from the library, and sends
 * now or later; NULL: nobody.  Set by a scene's begin, behind ens_begin(). */
extern void (*wire_taken)(int proc, const struct wire_msg *m);
/* Takes m over.  False: the connection is broken, m is freed. */
bool wire_send(int conn, struct wire_msg *m);
/* The next message that has arrived, the caller's now; NULL: none. */
struct wire_msg *wire_recv(int conn);
/* Tells connections that had the same number apart; 0: the client has closed
 * it. */
uint64_t wire_born(int conn);
/* The same, left where it is. */
const struct wire_msg *wire_peek(int conn);
bool wire_readable(int conn); /* A message has arrived, or it is BROKEN. */
/* When it will be readable or up (INT64_MAX: not as things are). */
int64_t wire_readable_at(int conn);
void wire_close(int conn); /* The server hears of it; the number is free. */
/* The client's end is dead: it can neither send nor receive; the server sees
 * the connection end.  wire_close() is still to be called. */
void wire_deaden(int conn);

/* The server's end.  ens.c is told of arrivals:
 * ens_accepted(conn), ens_received(conn, m), ens_hung_up(conn). */
void wire_reply(int conn, struct wire_msg *m); /* Takes m over. */
void wire_hang_up(int conn); /* Messages sent before still arrive. */
int wire_proc(int conn);
int wire_server(int conn);

/* For the faults. */
enum wire_dir { WIRE_UPWARD, WIRE_DOWNWARD }; /* To the server; from it. */
int wire_conn_of(int proc); /* Its newest living connection, or -1. */
void wire_cut(int conn);    /* Both ends see a reset; what is on its way, and
                               what has arrived and was not read, is lost. */
void wire_hold(int conn, enum wire_dir dir, int64_t until);
void wire_hold_all(int proc, int64_t until); /* Both ways, new ones too. */
bool wire_holds_requests(void); /* Something may be long on its way. */
void wire_refuse(int server, int64_t until); /* Nobody listens until then. */
/* What this process connects to until then is no ZooKeeper: it greets wrongly.
 */
void wire_garble(int proc, int64_t until);
/* The next watch event reaches the process in its time, and what the server
 * sends behind that event only then. */
void wire_part_events(int proc, int64_t until);
/* The newest transaction that a server had applied when it sent something that
 * the process has read. */
int64_t wire_heard(int proc);
/* The same, before the present step: what a process reads in one step of its
 * loop is there before anything of that is answered. */
int64_t wire_knew(int proc);
void wire_step_begins(void);
/* The process's next connections go to that server, whatever the client chose;
 * -1: as it chose. */
void wire_route(int proc, int server);
int wire_routed(int proc);
/* The first request on its way to the server from this process, or NULL; and
 * the first message to it that it has not read. */
const struct wire_msg *wire_first_up(int proc);
const struct wire_msg *wire_first_down(int proc);

#endif
