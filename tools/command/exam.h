/* The checks of `doctor` that take a session: one step behind the other.
 *
 * A lock of the exam's own at <base>/evzk-doctor-<id> guards all that is made
 * and deleted.  The box, <base>/evzk-doctor-<id>-box, is made by a second lock
 * in it; as the directory above a lock, evzk makes it a container.  Steps from
 * EXAM_AGAIN on clean up, and are taken after a failure and a signal, too.
 * After a loss of a lock another one guards that, at <first>-again-<n>: it
 * makes its own directory, and so takes it away, too. */
#ifndef EVZK_COMMAND_EXAM_H
#define EVZK_COMMAND_EXAM_H

#include "doctor.h"

#define EXAM_PATH_MAX 4096

enum exam_step {
    EXAM_FIND,    /* Which part of the path is there? */
    EXAM_LIMITS,  /* Quotas: first the limits of a znode, */
    EXAM_USED,    /* then what is used of them. */
    EXAM_ENTER,   /* Acquires the lock. */
    EXAM_CLOCK,   /* Looks it up: what time is it on the servers? */
    EXAM_BOX,     /* Acquires the lock in the box. */
    EXAM_CREATE,  /* Makes a znode and writes to it, */
    EXAM_READ,    /* reads it, */
    EXAM_DELETE,  /* and deletes it. */
    EXAM_LARGE,   /* Writes as much as a request may have. */
    EXAM_AGAIN,   /* A lock was lost: acquires another. */
    EXAM_LEAVE,   /* Releases the lock in the box. */
    EXAM_DROP,    /* Deletes the large znode. */
    EXAM_UNLOCK,  /* Deletes the directory of that lock, if it is left, */
    EXAM_UNBOX,   /* and the box. */
    EXAM_UNMAKE,  /* Deletes the directories of locks that were lost. */
    EXAM_RELEASE, /* Releases the lock. */
    EXAM_SEE,     /* Has that lock's directory gone, too? */
    EXAM_END
};

struct exam {
    struct doctor *d;
    struct connection connection;
    enum exam_step step;
    char base[EXAM_PATH_MAX], box[EXAM_PATH_MAX];
    char first[EXAM_PATH_MAX], own[EXAM_PATH_MAX]; /* Paths of locks. */
    size_t quota;   /* Of base: how much of it is a path with a quota. */
    char used[200]; /* The limits that were found. */
    int64_t begun_ms;
    int signo;  /* Which ended it, or 0. */
    int losses; /* Of a lock, .. */
    int unmade; /* .. of which so many have left no directory. */
    bool left;  /* Was it told what may be left? */
    evzk_value_query *value;
    evzk_lock *lock, *box_lock;
    evzk_lock_query *query;
    evzk_guard *guard;
    evzk_value_writer *writer;
    struct event *patience;
};

/* Goes on with a step.  After a signal that is EXAM_LEAVE, if anything is to
 * be cleaned up and that has not begun. */
void exam_go(struct exam *e, enum exam_step step);

/* Steps. */
void exam_find(struct exam *e);
void exam_limits(struct exam *e);
void exam_used(struct exam *e);
void exam_create(struct exam *e);
void exam_read(struct exam *e);
void exam_delete(struct exam *e);
void exam_large(struct exam *e);
void exam_drop(struct exam *e);
void exam_unlock(struct exam *e);
void exam_unbox(struct exam *e);
void exam_unmake(struct exam *e);
void exam_see(struct exam *e);

/* The path of the lock that follows so many losses. */
void exam_name_lock(const struct exam *e, int losses, char out[EXAM_PATH_MAX]);

/* A path of the exam as the user knows it: without the chroot. */
const char *exam_shown(const struct exam *e, const char *path);

/* Reports that something cannot be done, and goes on with a step. */
void exam_fail(struct exam *e, enum exam_step step, int rc, const char *what);

/* Reports what could not be removed, and goes on with a step. */
void exam_leave_behind(struct exam *e, enum exam_step step, int rc);

/* `path` and a tail, in `out`. */
void exam_join(char out[EXAM_PATH_MAX], const char *path, const char *tail);

#endif
