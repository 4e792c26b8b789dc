/* Directories that others of ours left behind. */
#ifndef EVZK_TIDY_H
#define EVZK_TIDY_H

#include "lib/request/dir.h"

/* Nobody of this session works in it any more.  True: it is kept, to be looked
 * at when it has been idle for a while. */
bool evzk__tidy_later(struct evzk_session *s, struct evzk__dir *d);

/* Somebody works in it again. */
void evzk__tidy_not(struct evzk_session *s, struct evzk__dir *d);

/* Looks at what has been idle for long enough; once a turn. */
void evzk__tidy_step(struct evzk_session *s);

/* At the session's end. */
void evzk__tidy_clear(struct evzk_session *s);

#endif
