/*
 * A TCP proxy between a client and one ZooKeeper server that knows the
 * protocol's frames: it cuts, refuses and freezes, or does so at exactly the
 * k-th frame.  It runs in a process of its own, so it never holds the loop
 * under test; every call here returns when the proxy has done what was asked.
 * It dies with the process that started it.
 */
#ifndef TESTS_REAL_PROXY_H
#define TESTS_REAL_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proxy;

enum proxy_dir {
    PROXY_C2S, /* What the client sends. */
    PROXY_S2C  /* What the server sends. */
};

enum { PROXY_BOTH = 2 };

/*
 * What a frame is: the request's opcode (zookeeper.jute and zookeeper's
 * OpCode; 1 create, 2 delete, 9 sync, 12 getChildren2, 14 multi, ...), for a
 * reply that of the request it answers, or one of these.
 */
enum proxy_op {
    PROXY_OP_ANY = -100,
    PROXY_OP_CONNECT = -10, /* The first frame of each direction. */
    PROXY_OP_CLOSE = -11,
    PROXY_OP_WATCH = 0, /* A watch that fired; server to client. */
    PROXY_OP_PING = 11
};

enum proxy_act {
    PROXY_CUT_BEFORE, /* The frame is dropped, then the connection is cut. */
    PROXY_CUT_AFTER,  /* The frame is delivered, then it is cut. */
    PROXY_DROP,       /* The frame is dropped, and all that follows on that
                         connection and way; somebody's time-out ends it. */
    PROXY_FREEZE,     /* The frame and all after it are held (proxy_thaw()). */
    PROXY_FREEZE_BOTH /* So is all that goes the other way. */
};

/* A request and its answer, each cut before it arrives and after. */
struct proxy_cut {
    enum proxy_dir dir;
    enum proxy_act act;
};
enum { PROXY_CUTS = 4 };
extern const struct proxy_cut proxy_cuts[PROXY_CUTS];

/*
 * Starts a proxy before "127.0.0.1:port".  proxy_start_all() starts several in
 * one process; @framed false takes the bytes as they come, for links that do
 * not speak the client protocol.
 */
struct proxy *proxy_start(const char *target);
void proxy_start_all(const char *const *targets, size_t n, bool framed,
                     struct proxy **out);

/* Frees it; the last one of a process ends the process, cutting the rest. */
void proxy_stop(struct proxy *p);

/* Where it listens, as a port and as "127.0.0.1:port". */
int proxy_port(const struct proxy *p);
const char *proxy_address(const struct proxy *p);

/* Resets (RST) all connections now, both sides, and drops what they hold. */
void proxy_cut(struct proxy *p);

/* While @on, nobody listens: connecting is refused.  Open connections stay. */
void proxy_refuse(struct proxy *p, bool on);

/*
 * Holds the bytes of a direction, or of PROXY_BOTH: sockets stay open, nothing
 * is lost.  New connections are accepted, and reach the server at the thaw.
 */
void proxy_freeze(struct proxy *p, int dir);
void proxy_thaw(struct proxy *p);

/*
 * Does @act at the @k-th frame (from 1) of direction @dir and of kind @op that
 * one connection passes from now on, once; a later call replaces it.  After a
 * cut the server has got all requests before, and the client all replies
 * before; new connections reach the server when it has hung up the old one.
 *
 * A client that is still sending may lose replies by its own failed send. To
 * hit the k-th of several requests exactly: freeze both directions, send them
 * all, set the trap, thaw.
 */
void proxy_trap(struct proxy *p, enum proxy_dir dir, int op, int64_t k,
                enum proxy_act act);

/* The same for any frame, cutting before (dropping) it or after. */
void proxy_cut_at_frame(struct proxy *p, enum proxy_dir dir, int64_t k,
                        enum proxy_act act);

/* Cuts when one connection has passed exactly @n more bytes. */
void proxy_cut_after_bytes(struct proxy *p, enum proxy_dir dir, int64_t n);

/*
 * At the @k-th frame of any kind, as above, freezes that direction (@act
 * PROXY_FREEZE) or both for @ms.
 */
void proxy_hold_at_frame(struct proxy *p, enum proxy_dir dir, int64_t k,
                         enum proxy_act act, int64_t ms);

/* When the trap set before has fired, sets this one (for any frame). */
void proxy_then_at_frame(struct proxy *p, enum proxy_dir dir, int64_t k,
                         enum proxy_act act);

/* While @on, every connection passes a byte a millisecond each way. */
void proxy_slow(struct proxy *p, bool on);

/* As new: no connection, no trap, not frozen, not slow. */
void proxy_reset(struct proxy *p);

/* Takes traps away that have not fired. */
void proxy_untrap(struct proxy *p);

/* How many traps fired; connections accepted so far; those open now. */
int64_t proxy_fired(struct proxy *p);
int64_t proxy_accepts(struct proxy *p);
int64_t proxy_open(struct proxy *p);

/* Frames and bytes passed since the start, all kinds or of one. */
int64_t proxy_frames(struct proxy *p, enum proxy_dir dir);
int64_t proxy_frames_of(struct proxy *p, enum proxy_dir dir, int op);
int64_t proxy_bytes(struct proxy *p, enum proxy_dir dir);

/* The session that the server granted last; 0 if none. */
int64_t proxy_session(struct proxy *p);

#endif
