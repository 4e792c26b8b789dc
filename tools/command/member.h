/* A member of a group, or a registered endpoint: stays until a signal comes, or
 * CMD has ended. */
#ifndef EVZK_COMMAND_MEMBER_H
#define EVZK_COMMAND_MEMBER_H

#include "work.h"

struct member {
    const char *path, *id;
    char **run;    /* CMD, or NULL. */
    uint32_t wait; /* Milliseconds for the first JOINED; UINT32_MAX: no end. */
    const char *joined; /* Without CMD evzk prints so, as "joined". */
    /* Joins: an error of the library, or 0. */
    int (*join)(struct member *m);
    void *arg;

    struct connection connection;
    evzk_member *object;

    /* For member.c alone. */
    struct work work;
    struct event *patience;
    bool began, conflict;
    int status;
};

/* Does all: returns the exit status. */
int member_run(struct member *m);

/* The callback of the member. */
void member_hear(evzk_member *object, evzk_member_event event, int rc,
                 void *arg);

#endif
