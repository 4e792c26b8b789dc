/* Conformance: one program of random operations, linked with the simulated
 * client and servers, and with the real client against a real server.  Both
 * write a transcript, which must be the same to the byte: so it has no times,
 * and ids of transactions and sessions are numbered as they first appear. */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

enum {
    CONFORM_SLOTS = 4,    /* Sessions at a time. */
    CONFORM_WATCHERS = 3, /* The session's own, and two more. */
    CONFORM_TIMEOUT_MS = 40000
};

/* ---- Where it runs (conform_real.c, conform_sim.c) ---- */

/* Before anything else; `servers` as given with --servers, or NULL.  Returns
 * what zookeeper_init() is to be given. */
const char *platform_begin(uint64_t seed, const char *servers);
/* Lets these handles do their work until `done` is true.  Too long: the end of
 * the program, with a message. */
void platform_wait(zhandle_t *const *zh, unsigned n, bool (*done)(void));

/* ---- The transcript (conform_tell.c) ---- */

/* A line about a session, kept until told_flush(). */
void tell(int slot, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes them: sorted, or as they came. */
void told_flush(int slot, bool sort);
void tell_rc(int rc); /* Counts it. */
int tell_return_codes(void);
unsigned long tell_zxid(int64_t zxid);
unsigned long tell_session(int64_t id);
void tell_stat(char *buf, size_t size, const struct Stat *stat);
void tell_data(char *buf, size_t size, const char *data, int len);
void tell_acl(char *buf, size_t size, const struct ACL_vector *acl);
void tell_names(char *buf, size_t size, const struct String_vector *names);

/* ---- Sessions (conform_lives.c) ---- */

struct slot {
    int number;
    zhandle_t *zh;
    clientid_t id;
    bool watched; /* May have watches. */
    int state;    /* The newest of its session events. */
};
extern struct slot slots[CONFORM_SLOTS];
extern const char *conform_servers;

void lives_open(int slot);
void lives_close(int slot);
void lives_expire(int slot);     /* By somebody else, and opened again. */
void lives_spoil_auth(int slot); /* Ends likewise. */
/* Every watch event that is due to this session has come. */
void lives_barrier(int slot);
void on_watch(zhandle_t *zh, int type, int state, const char *path,
              void *context);
void *watch_context(int slot, int watcher);
unsigned long lives_opened(void);
unsigned long lives_events(void);

/* ---- Operations (conform_do.c, conform_multi.c) ---- */

struct request {
    int slot;
    char what[400];
    void *own;
};
struct request *request_new(int slot, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void request_sent(struct request *r, int rc); /* What the call returned. */
void request_done(struct request *r, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
unsigned requests_pending(void);

/* False: what comes next must wait for the answer. */
bool do_something(int slot);
void do_base(int slot); /* Makes /t, below which all is. */
void do_add_auth(int slot);
void do_multi(int slot);
void do_end_of_sequence(int slot);

/* Random choices (conform.c): 0 <= pick(n) < n. */
unsigned pick(unsigned n);
const char *pick_path(void);
int32_t pick_version(void);
struct pick_acl {
    const char *name;
    struct ACL_vector acl;
};
const struct pick_acl *pick_acl(void);
struct pick_data {
    char bytes[32];
    int len;
};
struct pick_data pick_data(void);
/* Sequential nodes are remembered, and not too many left. */
void remember(const char *path);
void evict(int slot);

#endif
