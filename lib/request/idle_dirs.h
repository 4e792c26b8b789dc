/* Deletes empty directories that other evzk processes left behind. */
#ifndef EVZK_IDLE_DIRS_H
#define EVZK_IDLE_DIRS_H

#include "lib/request/dir.h"

/* Checks the directories that have been idle for long enough; once a turn. */
void evzk__idle_dirs_step(struct evzk__core *s);

/* At the session's end. */
void evzk__idle_dirs_clear(struct evzk__core *s);

#endif
