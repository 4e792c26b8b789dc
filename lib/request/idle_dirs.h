/* Deletes empty directories that other evzk processes left behind. */
#ifndef EVZK_TIDY_H
#define EVZK_TIDY_H

#include "lib/request/dir.h"

/* Checks the directories that have been idle for long enough; once a turn. */
void evzk__tidy_step(struct evzk__core *s);

/* At the session's end. */
void evzk__tidy_clear(struct evzk__core *s);

#endif
