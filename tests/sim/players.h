/* The processes of a scene, whatever the recipe: each has a session, hears its
 * events, closes it and frees it, and is checked for what holds for every
 * session. */
#ifndef SIM_PLAYERS_H
#define SIM_PLAYERS_H

#include "evzk/session.h"
#include "world.h"

struct player {
    evzk_session *s; /* NULL once freed. */
    bool open;       /* Opened, and CLOSED not heard, not freed. */
    bool closing;    /* Close or free was called. */
    bool closed;     /* CLOSED was heard. */
    int close_rc;
    int64_t ids[8]; /* Sessions it had, newest last. */
    unsigned n_ids;
};

struct player_config {
    uint32_t timeout_ms;
    const char *chroot; /* NULL: none. */
    bool make_chroot;
    unsigned window; /* 0: 8. */
};

/* Opens the session of process `proc` (entered by this).  An OOM is retried by
 * a stage timer until it opens. */
void player_open(int proc, const struct player_config *cfg);
struct player *player_of(int proc);
bool player_opening(int proc); /* Not open yet, and still tried. */

/* Closes it (once), and frees it when CLOSED was heard.  The process must be
 * entered. */
void player_close(int proc);
/* Frees it at once: CLOSED will not be heard. */
void player_free(int proc);
bool players_gone(void); /* All sessions that were opened are freed. */

/* Every callback of an application begins with this: the explorer may call the
 * library here.  After it, what called may be freed: look before touching. */
void player_callback(int proc);
/* Set by the faults; called by player_callback(). */
extern void (*player_hook)(int proc);

/* Round every call of the library: no callback may come from inside one. */
void player_call(int proc);
void player_called(int proc);
/* For a callback to ask at its beginning: is it called as promised? */
void player_heard(int proc, const char *what);
/* The same, of an event that is not final: none comes after close. */
void player_news(int proc, const char *what);
/* The session's event comes before those of the recipes that follow from it.
 * `doubts` belongs to what is granted or led: player_certain() is asked when it
 * is granted and when it is resumed, player_doubtful() when it is suspended. */
void player_certain(int proc, int64_t *doubts, const char *what);
void player_doubtful(int proc, const int64_t *doubts, const char *what);

/* What no library can foresee, done where the rules learn of it: the servers
 * end the process's session before its time, and an operator deletes a znode.
 * The faults and the scenes use these, and not ens_expire() and ens_delete().
 */
bool player_expire(int proc); /* False: it has no session that is alive. */
int player_delete(const char *path);
int player_delete_together(const char *const paths[], size_t n);
/* Puts a persistent znode with the same name and data in its place.  False:
 * there is none, or too many were made. */
bool player_copy(int proc, const char *path);
/* The same where that, which was of this czxid, has gone. */
bool player_restore(int64_t czxid, const char *path);
/* The same of its directory and all in it: see ens_remake(). */
bool player_remake(int proc, const char *const paths[], size_t n,
                   const char *path);
void player_remove_copies(void);     /* That are there. */
bool player_copied(int64_t czxid);   /* In its place one was put. */
bool player_forced(int64_t session); /* Was ended by player_expire(). */
bool player_broken(int64_t czxid);   /* Was deleted by player_delete(). */
void player_removed(int64_t czxid);  /* By another process: the same. */
bool player_any_broken(void);
/* The session has ended, or its end is proposed and nothing can stop it: the
 * servers say so to its client before the end is committed. */
bool player_over(int64_t session);

/* What excuses an application's being told late, or told of want of memory. */
bool player_late(int proc, int64_t since_us); /* It was frozen since then. */
bool player_starved(int proc); /* An allocation of it was made to fail. */
bool player_starved_since(int proc, int64_t us);

/* Sees every event of every machine; NULL: nobody.  Set by a scene's begin. */
extern void (*player_trace)(int proc, const evzk_trace *t);

/* Compares what the process holds with what its leases say: in every callback,
 * also of another object.  NULL: it has none.  Set by a scene's begin. */
extern void (*player_leases)(int proc);

/* What holds for every session; after everything that happens. */
void players_check(void);
/* At the end: no memory of any process is left, no session on the servers, no
 * watch. */
void players_check_end(void);

#endif
