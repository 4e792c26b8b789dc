/* The processes of a scene, whatever the recipe: each has a session, hears its
 * events, closes it and frees it, and is checked for what holds for every
 * session. */
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
};

struct process_config {
    uint32_t timeout_ms;
    const char *chroot; /* NULL: none. */
    bool make_chroot;
    unsigned window; /* 0: 8. */
};

/* Opens the session of process `proc` (entered by this).  An OOM is retried by
 * a scene timer until it opens. */
void process_open(int proc, const struct process_config *cfg);
struct process *process_of(int proc);
bool process_opening(int proc); /* Not open yet, and still tried. */

/* Closes it (once), and frees it when CLOSED was heard.  The process must be
 * entered. */
void process_close(int proc);
/* Frees it at once: CLOSED will not be heard. */
void process_free(int proc);
bool processes_gone(void); /* All sessions that were opened are freed. */

/* Every callback of an application begins with this: the explorer may call the
 * library here.  After it, what called may be freed: look before touching. */
void process_callback(int proc);
/* Set by the faults; called by process_callback(). */
extern void (*process_hook)(int proc);

/* Round every call of the library: no callback may come from inside one. */
void process_call_begins(int proc);
void process_call_ends(int proc);
/* For a callback to ask at its beginning: is it called as promised? */
void process_heard(int proc, const char *what);
/* The same, of an event that is not final: none comes after close. */
void process_news(int proc, const char *what);
/* The session's event comes before those of the recipes that follow from it.
 * `doubts` belongs to what is granted or led: process_certain() is asked when
 * it is granted and when it is resumed, process_doubtful() when it is
 * suspended. */
void process_certain(int proc, int64_t *doubts, const char *what);
void process_doubtful(int proc, const int64_t *doubts, const char *what);

/* What no library can foresee, done where the rules learn of it: the servers
 * end the process's session before its time, and an operator deletes a znode.
 * The faults and the scenes use these, and not ens_expire() and ens_delete().
 */
bool process_expire(int proc); /* False: it has no session that is alive. */
int operator_delete(const char *path);
int operator_delete_together(const char *const paths[], size_t n);
/* Puts a persistent znode with the same name and data in its place.  False:
 * there is none, or too many were made. */
bool operator_copy(int proc, const char *path);
/* The same where that, which was of this czxid, has gone. */
bool operator_restore(int64_t czxid, const char *path);
/* The same of its directory and all in it: see ens_remake(). */
bool operator_remake(int proc, const char *const paths[], size_t n,
                     const char *path);
void operator_remove_copies(void);    /* That are there. */
bool operator_copied(int64_t czxid);  /* In its place one was put. */
bool session_forced(int64_t session); /* Was ended by process_expire(). */
bool operator_deleted(int64_t czxid); /* Was deleted by operator_delete(). */
void operator_note_deleted(int64_t czxid); /* By another process: the same. */
bool operator_deleted_any(void);
/* The session has ended, or its end is proposed and nothing can stop it: the
 * servers say so to its client before the end is committed. */
bool session_over(int64_t session);

/* What excuses an application's being told late, or told of want of memory. */
bool process_was_frozen(int proc,
                        int64_t since_us); /* It was frozen since then. */
bool process_lacked_memory(
    int proc); /* An allocation of it was made to fail. */
bool process_lacked_memory_since(int proc, int64_t us);

/* Sees every event of every machine; NULL: nobody.  Set by a scene's begin. */
extern void (*process_trace)(int proc, const evzk_trace *t);

/* Compares what the process holds with what its leases say: in every callback,
 * also of another object.  NULL: it has none.  Set by a scene's begin. */
extern void (*process_leases)(int proc);

/* What holds for every session; after every step. */
void processes_check(void);
/* At the end: no memory of any process is left, no session on the servers, no
 * watch. */
void processes_check_end(void);

#endif
