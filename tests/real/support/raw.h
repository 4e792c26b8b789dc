/*
 * A small synchronous ZooKeeper client for tests: what an operator, a rival or
 * a foreign program does to the server, apart from the library under test.
 *
 * Calls return ZooKeeper's codes (ZOK, ZNONODE, ...), and fail the test when
 * no answer comes within 60 s.  While they wait, nothing else runs, unless
 * raw_drive() gives them the loop to run meanwhile; then do not call them from
 * a callback of that loop.
 */
#ifndef TESTS_REAL_RAW_H
#define TESTS_REAL_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef THREADED
#include <zookeeper/zookeeper.h>
#endif

struct event_base;
struct raw;

/* Connects and waits for the session; @id continues one, NULL makes one. */
struct raw *raw_open(const char *servers, int timeout_ms, const clientid_t *id);

/* Ends the session; abandons it as a crash would, so that it must expire. */
void raw_close(struct raw *r);
void raw_abandon(struct raw *r);

/* Runs @base while calls wait, so that the library under test goes on. */
void raw_drive(struct raw *r, struct event_base *base);

/* Id and password; connected now; ended by the server. */
clientid_t raw_id(const struct raw *r);
bool raw_connected(struct raw *r);
bool raw_expired(struct raw *r);

/*
 * Before every call that writes, and before the close: after a pause the
 * connection is proved first, or made again.  False if the session has expired.
 */
bool raw_fresh(struct raw *r);

/* Lets the client work (pings, news) for about @ms. */
void raw_run(struct raw *r, int64_t ms);

/*
 * @flags as ZOO_EPHEMERAL.  @name takes the name made, sequence included, and
 * may be NULL.  ACL: open, or @acl.
 */
int raw_create(struct raw *r, const char *path, const void *data, int len,
               int flags, char *name, size_t size);
int raw_create_acl(struct raw *r, const char *path, const void *data, int len,
                   int flags, const struct ACL_vector *acl, char *name,
                   size_t size);
int raw_delete(struct raw *r, const char *path);
/* Two in one transaction, as a shell's deleteall does it. */
int raw_delete_both(struct raw *r, const char *first, const char *second);
int raw_exists(struct raw *r, const char *path, struct Stat *stat);
int raw_get(struct raw *r, const char *path, void *buf, int *len,
            struct Stat *stat);
int raw_set(struct raw *r, const char *path, const void *data, int len);
int raw_sync(struct raw *r, const char *path);
int raw_set_acl(struct raw *r, const char *path, const struct ACL_vector *acl);

/* As in raw_add_auth(r, "digest", "user:password"). */
int raw_add_auth(struct raw *r, const char *scheme, const char *cert);

/* Names in a directory, sorted. */
struct raw_names {
    size_t n;
    char **name;
};

int raw_children(struct raw *r, const char *path, struct raw_names *out);
void raw_names_free(struct raw_names *names);

/* How many; -1 when the directory does not exist. */
int raw_count(struct raw *r, const char *path);

/* Makes @path and all above it; removes it and all below. There or not is fine;
 * anything else fails the test. */
void raw_mkdirs(struct raw *r, const char *path);
void raw_delete_tree(struct raw *r, const char *path);

/* Wait, as the leader sees it; fail the test after @ms. */
void raw_wait_there(struct raw *r, const char *path, int64_t ms);
void raw_wait_gone(struct raw *r, const char *path, int64_t ms);
void raw_wait_children(struct raw *r, const char *path, int n, int64_t ms);

/*
 * Ends a session at the server, whoever uses it: the session is taken over by
 * id and password, and closed.  The password of a session can be computed
 * (raw_password()); it protects against mistakes only.  A session that is gone
 * already fails the test, but with raw_expire_if_there().
 */
void raw_expire(const char *servers, int64_t session);
void raw_expire_if_there(const char *servers, int64_t session);
void raw_expire_with(const char *servers, const clientid_t *id);
void raw_password(int64_t session, char password[16]);

#endif
