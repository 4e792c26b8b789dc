/* The checks of `doctor`.  Each reports one line. */
#ifndef EVZK_COMMAND_DOCTOR_H
#define EVZK_COMMAND_DOCTOR_H

#include <stdbool.h>

#include <json-c/json.h>

#include "connect.h"
#include "words.h"

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

struct doctor {
    struct servers servers;
    enum verdict worst;
    struct json_object *checks; /* With --json. */
    char *path;                 /* With the chroot. */
    size_t chroot;              /* How long that is. */
};

/* Reports a check.  `advice` says what to change; NULL: nothing. */
void doctor_report(struct doctor *d, enum verdict verdict, const char *advice,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What the servers say of themselves: all but the session. */
void doctor_check_servers(struct doctor *d);

/* The granted session time-out, against the limits of the servers. */
void doctor_check_timeout(struct doctor *d, int64_t granted_ms);

/* All that takes a session.  Removes what it made.  0, or an exit status that
 * has nothing to do with the checks, as after a signal. */
int doctor_check_session(struct doctor *d);

#endif
