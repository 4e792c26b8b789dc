/* What `who` prints. */
#ifndef EVZK_COMMAND_WHO_H
#define EVZK_COMMAND_WHO_H

#include <stdbool.h>

#include <evzk/evzk.h>
#include <json-c/json.h>

#define PATH_ROOM 4200

struct who_answer {
    struct json_object *rows; /* An array; NULL: none yet. */
    struct json_object *leader;
};

void who_clear(struct who_answer *a);

void who_leads(struct who_answer *a, const evzk_leader *leader);

/* A contender; `queue`: it is in the queue of a semaphore.  An age below zero
 * is not known. */
void who_add(struct who_answer *a, const evzk_contender *c, int64_t token,
             bool queue);

/* Prints the answer as the options want it.  `again`: not the first time.
 * Returns an exit status. */
int who_print(const struct who_answer *a, const char *path, bool watch,
              bool again);

#endif
