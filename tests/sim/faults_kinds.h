/* What each fault does; the table of them is in faults.c. */
#ifndef SIM_FAULTS_KINDS_H
#define SIM_FAULTS_KINDS_H

#include "faults.h"

enum {
    FAULT_FORGERIES = 7, /* Kinds of forged plans; .. */
    FAULT_VOTES = 6,   /* .. to commit and to abort, of each of three sites. */
    FAULT_WATCHES = 3, /* Of a process: the newest ones. */
    FAULT_SPOILS = 5   /* Ways in which an item of a queue is bad. */
};

enum {
    MS = 1000,
    /* The scenes' sessions end after a second without word, rounded up. */
    FAULT_SHORT = 300 * MS,  /* Long enough to connect elsewhere. */
    FAULT_SHUN = 1000 * MS,  /* A server that greets wrongly is left out. */
    FAULT_SILENT = 800 * MS, /* The client gives up the connection. */
    FAULT_PAST = 1800 * MS   /* The session is over. */
};

/* What a fault began lasts at most this long. */
void faults_last(int64_t us);

/* Of the process: its present session, or 0. */
int64_t faults_session(int proc);

/* Once the present step is over. */
void faults_cut_after(int proc);
void faults_expire_after(int proc);
void faults_refuse_after(int proc, uint8_t n); /* So many writes of it. */

/* The process is sent to that server for a while. */
void faults_route(int proc, int server, int64_t us);

uint8_t fault_refusals(void); /* More writes than a machine repeats. */
bool fault_may_fill(void);    /* May a quota be used up in this recipe? */

typedef bool fault_fn(const struct fault *f, const struct sim_step *step);

/* faults_net.c */
fault_fn fault_cut, fault_cut_after, fault_late, fault_late_at,
    fault_slow_leader, fault_lagging, fault_hold_replies, fault_hold_requests,
    fault_partition, fault_follower, fault_refuse, fault_starve, fault_stranger,
    fault_outage, fault_throttle, fault_throttle_writes, fault_throttle_reads,
    fault_lost_refused, fault_expire, fault_expire_after, fault_close_first,
    fault_freeze, fault_freeze_short, fault_slow, fault_hangs_up;

/* faults_tree.c */
fault_fn fault_delete_own, fault_delete_pred, fault_delete_pair,
    fault_delete_batch, fault_replace_own, fault_replace_away, fault_seize_own,
    fault_copy_beside, fault_deny, fault_fill, fault_remake_away, fault_set_own,
    fault_empty_dir, fault_delete_all, fault_foreign, fault_foreign_lower,
    fault_foreign_higher, fault_foreign_curator, fault_foreign_kazoo,
    fault_foreign_mutex;
/* Makes a persistent znode in a directory, for a while: its name begins with
 * `tag`, which no other znode there has.  False: it cannot be made. */
bool fault_put(const char *dir, const char *tag, const char *rest, int mode);
/* The directory of the newest ephemeral znode, and the name with the lowest
 * number there; its number, and where that begins. */
enum { FAULT_PATH = 256 };
bool fault_directory(char dir[FAULT_PATH]);
/* The number at the end of a name, and where it begins; NULL: none. */
const char *fault_number(const char *name, int32_t *n);
bool fault_comes_before(int32_t a, int32_t b); /* As numbers that wrap. */
const char *fault_lowest(const char *dir, const char **digits, int32_t *n);

/* faults_gather.c */
bool fault_gathers(void); /* faults.c: does the recipe count who has come? */
fault_fn fault_foreign_nameless, fault_copy_ready, fault_older_ready;

/* faults_hide.c */
fault_fn fault_hide_change, fault_hide_delete, fault_hide_replace,
    fault_history_back, fault_history_anew;

/* faults_plan.c.  A copy, which no session owns, of the znode of a member is at
 * that path. */
void fault_note_copy(const char *path);
fault_fn fault_forge_plan, fault_hide_plan, fault_hide_members,
    fault_hide_member, fault_hide_each, fault_copy_member, fault_hide_votes;

/* faults_votes.c */
fault_fn fault_forge_vote;

/* faults_queue.c */
fault_fn fault_spoil, fault_day;

/* faults_content.c: in how many ways what is about to be read can be bad. */
int fault_contents(const struct sim_step *step);
fault_fn fault_malform;

#endif
