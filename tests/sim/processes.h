/* The processes of a scene, whatever the recipe.  A process opens a session,
 * hears its events, closes it and frees it; the rules for every session are
 * checked here. */
#ifndef SIM_PROCESSES_H
#define SIM_PROCESSES_H

#include "evzk/session.h"
#include "world.h"

struct process {
    evzk_session *s; /* NULL once freed. */
    bool open;       /* Opened, and CLOSED not heard, not freed. */
    bool closing;    /* Close or free was called. */
    bool closed;     /* CLOSED was heard. */
    int close_rc;
    int64_t ids[8]; /* Sessions it had, newest last. */
    unsigned n_ids;
    bool expired; /* EXPIRED was heard. */
};

struct process_config {
    uint32_t timeout_ms;
    const char *chroot; /* NULL: none. */
    bool make_chroot;
    unsigned window; /* 0: 8. */
};

/* Enters process `proc` and opens its session.  While memory is short, a scene
 * timer tries again. */
void process_open(int proc, const struct process_config *cfg);
struct process *process_of(int proc);
/* The process that has the session, or had it; -1: none. */
int process_with(int64_t session);
/* Is that so of a session that the process has, or had? */
bool process_any_session(int proc, bool (*is)(int64_t session));
bool process_opening(int proc); /* The session is not open yet. */
bool processes_opening(void);   /* That of any process. */

/* Has the process a session that may be used: not freed, not being closed? */
bool process_has_session(int proc);

/* Is its session connected?  Any code may ask. */
bool process_is_connected(int proc);

/* Its session has no operation under way, not even in the background. */
bool process_is_idle(const struct process *p);

/* Closes the session; frees it when CLOSED is heard.  The process must be
 * entered. */
void process_close(int proc);
/* Frees the session at once: CLOSED will not be heard. */
void process_free(int proc);
/* No server has confirmed the end; or answers to requests in flight were lost.
 */
bool process_closed_badly(int proc);
bool processes_gone(void); /* All sessions that were opened are freed. */

/* For each callback of an application: here the explorer may call the library.
 * Afterwards the object that called back may be freed: look before using it. */
void process_callback(int proc);
/* Set by the faults; called by process_callback(). */
extern void (*process_hook)(int proc);

/* Round every call of the library: no callback may come inside a call. */
void process_call_begins(int proc);
void process_call_ends(int proc);
/* A fault struck that lasts so long, or a scene disturbs; 0: it is over. */
void processes_disturbed(int64_t us);
bool processes_are_disturbed(void); /* Or were, shortly before. */
/* At the beginning of each callback: checks that it comes as promised. */
void process_heard(int proc, const char *what);
/* The same for an event that is not final: none comes after the close. */
void process_news(int proc, const char *what);
/* SUSPENDED was told last; and how often it was.  Sure: not so, and the lease
 * is not over. */
bool process_in_doubt(int proc);
int64_t process_doubts(int proc);
bool process_is_sure(int proc);
/* An end was promised for this time, and has not been told; 0: none was. */
bool process_is_late(int proc, int64_t due_us);
bool process_has_lapsed(int proc); /* Its lease has run out before, or now. */
/* The session's event comes before those of the recipes that follow from it.
 * `doubts` belongs to what is granted or led: process_certain() is asked when
 * it is granted and when it is resumed, process_doubtful() when it is
 * suspended. */
void process_certain(int proc, int64_t *doubts, const char *what);
void process_doubtful(int proc, const int64_t *doubts, const char *what);

/* What no library can foresee: the servers end a session before its time, and
 * an operator deletes or copies a znode.  Faults and scenes use these
 * functions, not ens_expire() and ens_delete(), so that the rules know of it.
 */
bool process_expire(int proc); /* False: it has no session that is alive. */
int operator_delete(const char *path);
int operator_delete_together(const char *const paths[], size_t n);
/* Deletes a znode, and makes a persistent one with its name and data.  False:
 * there is no such znode, or too many copies were made. */
bool operator_copy(int proc, const char *path);
/* The same, and another session, which does not end, owns what comes. */
bool operator_seize(int proc, const char *path);
/* Makes such a copy of a znode that is gone; `czxid` was its. */
bool operator_restore(int64_t czxid, const char *path);
/* Deletes the directory and all in it, and makes it anew with a copy of one
 * znode: see ens_remake(). */
bool operator_remake(int proc, const char *const paths[], size_t n,
                     const char *path);
void operator_remove_copies(void); /* All that exist. */
/* Another process has deleted a znode: counts as an operator's deletion. */
void operator_note_deleted(int64_t czxid);

bool operator_copied(int64_t czxid);  /* The znode was replaced by a copy. */
bool operator_deleted(int64_t czxid); /* The znode was deleted. */
bool operator_deleted_any(void);
int64_t operator_deletions(void);     /* How many, so far. */
bool session_forced(int64_t session); /* Ended by process_expire(). */
/* The session has ended, or its end is proposed and nothing can stop it: the
 * servers say so to its client before the end is committed. */
bool session_over(int64_t session);

/* What excuses a late event, or an error for want of memory: the process was
 * frozen since then; an allocation of it was made to fail (since then). */
bool process_was_frozen(int proc, int64_t since_us);
bool process_lacked_memory(int proc);
bool process_lacked_memory_since(int proc, int64_t us);

/* May this be returned, or told?  EVZK_OK; or an error for want
 * of memory, or since the session is being closed, if that is so. */
bool process_may_return(int proc, int rc);

/* Sees every event of every machine; NULL: nobody.  Set by a scene's begin. */
extern void (*process_trace)(int proc, const evzk_trace *t);

/* Compares what the process holds with what its leases say: in every callback,
 * also of another object.  NULL: it has none.  Set by a scene's begin. */
extern void (*process_leases)(int proc);

/* The rules for every session; after every step. */
void processes_check(void);
/* At the end: no memory of any process is left, no session on the servers, no
 * watch. */
void processes_check_end(void);

#endif
