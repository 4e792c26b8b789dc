/* The servers: a leader (number 0) and two followers, one tree.
 *
 * A write is prepared by the leader, proposed, committed a while later, and
 * applied by each follower after that; every server answers reads from what it
 * has applied.  So the tree is kept once, with versions: a server's view is the
 * newest transaction that it has applied. */
#ifndef SIM_ENS_H
#define SIM_ENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct ens_config {
    int servers;         /* 1 (alone) or 3. */
    int32_t tick_ms;     /* Sessions time out at least two ticks, at most 20. */
    int64_t commit_us;   /* From proposal to commit at the leader. */
    int64_t link_us;     /* From server to server. */
    int64_t patience_us; /* A follower without its leader hangs up then. */
    /* At the end of the sequence numbers.  True: as ZooKeeper 3.8.0, whose
     * counter stays at 2147483647; false: as others, which go on with the
     * negative ones. */
    bool quirk_end;
    int64_t container_us; /* Empty containers go at each multiple; 0: never. */
    /* A request whose data and paths are longer costs its connection, as with a
     * small jute.maxbuffer; 0: none does. */
    int64_t most_bytes;
    /* So often a directory that a transaction is to make is there, with a
     * contender of somebody else, and both are gone right behind it. */
    uint32_t rivals;
};
void ens_begin(const struct ens_config *cfg);
int64_t ens_link_us(void); /* From server to server, of this run. */

/* From the wire: arrivals at the server's end. */
void ens_accepted(int conn);
void ens_received(int conn, struct wire_msg *m); /* Takes m over. */
void ens_hung_up(int conn);

/* For the faults. */
bool ens_expire(int64_t session); /* The leader ends it now; false: no such. */
/* The leader ends it now, because a connection that is gone asked for that;
 * what comes by the present one, at `conn`, is dropped, and that stays open.
 * False: it is attached elsewhere, or over. */
bool ens_close_unheard(int64_t session, int conn);
void ens_hold_commits(int64_t until); /* Proposals wait. */
/* Each proposal takes long.  Returns when the last of them is through. */
int64_t ens_crawl(int64_t until);
void ens_lag(int server, int64_t until); /* The server hears nothing from the
                                            leader until then, and then all. */
void ens_cut(int server, int64_t until); /* Nor does the leader hear it. */
/* The next request of this process, whatever it is, is answered with an error
 * (ZTHROTTLEDOP) and not done; or the next `n` of its writes or reads are. */
void ens_throttle(int proc);
void ens_throttle_writes(int proc, uint8_t n);
void ens_throttle_reads(int proc, uint8_t n);
enum { REFUSALS = 8 }; /* So often a machine asks again for what is refused. */
int64_t ens_throttled_at(int proc); /* The last one; 0: none yet. */
bool ens_throttled_read(int proc);  /* A read was refused so. */
bool ens_throttled(int proc);       /* The error was sent; */
int ens_throttles(int proc);        /* .. so often. */
/* The next request of this process that takes a right to write is answered as
 * if the right was missing. */
void ens_deny(int proc);
/* A quota is used up until then: nobody can make a znode.  full_at: when a
 * create was refused so, last; 0: never. */
void ens_fill(int64_t until);
int64_t ens_full_at(void);
bool ens_deniable(const struct wire_msg *m); /* Does it take such a right? */
bool ens_denied(int proc);                   /* The answer was sent. */
int64_t ens_denials(void); /* To how many processes that was sent. */
/* The servers number all that there is anew, from 1, and what comes: as if they
 * were set up anew, or restored from an older state. */
void ens_begin_anew(void);
/* From now on every server hangs up at each request of this process that is
 * like this one: the same operation on the same path, whatever numbers and
 * GUIDs are in it; of a transaction it is the last operation.  False: it is
 * none of which that can be said, it deletes, or looks for a znode of its own
 * session, which it is to delete. */
bool ens_shut_at(int proc, const struct wire_msg *m);
bool ens_shut(int proc);        /* The servers have hung up so, or may have. */
int64_t ens_hang_ups(int proc); /* How often; 255: or more. */
/* The same, but for requests that were too long.  Is this one? */
bool ens_shut_otherwise(int proc);
bool ens_too_long(const struct wire_msg *m);
bool ens_shut_read(int proc); /* At a read, if that was a fault's doing. */
int64_t ens_shuts(void);      /* At how many processes' requests. */
bool ens_refused(int proc);   /* The same, or either error was sent. */
/* 25 hours pass, by the servers' clock, which stands otherwise. */
void ens_day(void);
/* So many receipts were deleted by another process than has made them.  A
 * receipt that was written to on this day must not be. */
int64_t ens_tidied(void);
/* This session had made one of these. */
bool ens_tidied_of(int64_t session);
/* Are these sessions of one process?  NULL: receipts have no rules. */
extern bool (*ens_same_process)(int64_t a, int64_t b);
/* Somebody else's transactions, as by an operator: at the leader, now.  0, or
 * the error.  `mode` as of zoo_acreate();
 * what is ephemeral belongs to a session that does not end. */
int ens_create(const char *path, const void *data, size_t len, int mode);
int ens_delete(const char *path);
/* All of them in one transaction, in this order; or none, and no error. */
int ens_delete_together(const char *const paths[], size_t n);
/* Puts a persistent znode with the same name and data in the place of one of
 * this process, in one transaction.  False: it cannot be done.  From then on
 * the process may not delete it, but by a connection that it had already. */
bool ens_copy(const char *path, int proc);
/* The same, but the znode that comes is ephemeral, and of another session,
 * which does not end. */
bool ens_seize(const char *path, int proc);
/* The same with its directory, the last of `paths`, which comes again without
 * data; all else there, which the others are, goes. */
bool ens_remake(const char *const paths[], size_t n, const char *path,
                int proc);
/* Does the machine of a znode look at whatever its process reads of that znode?
 * Set by a scene: not where observers or planners read, too. */
extern bool ens_reads_own;
/* The process has read a znode that was made then, by exists, or by get with a
 * watch; and which of the copies of its znodes it has read, a bit for each. */
void ens_copy_read(int proc, int64_t czxid);
uint8_t ens_copies_read(int proc);
/* Is it an operator's, in place of a znode of this process? */
bool ens_is_copy(int proc, int64_t czxid);
/* May the process delete this, though an operator has put it there?  Set by a
 * scene; NULL: it may not. */
extern bool (*ens_removes)(int proc, const char *path);
/* Does a session delete this ephemeral znode, which another live one owns,
 * since that is what it is asked for?  Set by a scene; NULL: none of the scene
 * does.
 */
extern bool (*ens_takes)(int64_t session, const char *path);
/* A session deletes this.  heard: what its process could have heard of when it
 * asked.  Set by a scene, or NULL. */
extern void (*ens_on_delete)(const char *path, int64_t heard);
void ens_copies(void (*have)(const char *path)); /* The copies that exist. */
int ens_set_data(const char *path, const void *data, size_t len);
/* What everybody may do to it from now on, ENS_READ and the like. */
int ens_set_perms(const char *path, int perms);
/* Its data has been written so often, as an int32 that wraps. */
void ens_set_version(const char *path, int32_t version);
void ens_set_sequence(const char *dir, int32_t next); /* Of its children. */
/* The containers that are empty now, and have not always been, go. */
void ens_reap(void);

/* The true tree: as committed by the leader. */
struct ens_seen {
    int64_t czxid, mzxid, owner;
    const char *data;
    int32_t len, version, aversion;
};
bool ens_look(const char *path, struct ens_seen *out);
/* The permissions in the first entry of its ACL; -1: there is no such znode. */
int ens_perms(const char *path);
/* As the leader has prepared it: the future, if it does not die. */
bool ens_look_ahead(const char *path, struct ens_seen *out);
/* Names of the children, in the tree's own order; at most max; returns how
 * many there are.  Valid until something happens. */
size_t ens_children(const char *path, const char *names[], size_t max);
bool ens_alive(int64_t session); /* Not ended by a committed transaction. */
size_t ens_sessions(void);       /* Live ones. */
size_t ens_watches(void);        /* At all servers. */
size_t ens_watches_of(int64_t session);
size_t ens_watches_on(int conn); /* As wire_conn_of() has it. */
/* The path of the nth of them, the newest first, and whether it is on the
 * children; NULL: there are fewer. */
const char *ens_watched(int conn, unsigned nth, bool *children);
int64_t ens_proposed(void);  /* The newest zxid given out. */
int64_t ens_committed(void); /* The newest zxid committed. */
/* Was anything committed since `*looked`, which becomes ens_committed()?  If
 * not, a rule sees the same tree as before. */
bool ens_has_changed(int64_t *looked);
int64_t ens_applied(int server); /* By this one. */
/* What an operator makes that is ephemeral is owned by this session. */
enum { ENS_STRANGER = 1 };
static inline bool ens_is_by_hand(int64_t owner)
{
    return owner == 0 || owner == ENS_STRANGER;
}
enum { ENS_ALL = -100, ENS_OP_FIRST = -12, ENS_OP_LAST = 115 };
uint64_t ens_requests(int op);    /* Received so far; ENS_ALL: of all kinds. */
uint64_t ens_operations(void);    /* In the multis among them. */
uint64_t ens_watches_asked(void); /* Requests that set one. */

#endif
