/* The end of a session. */
#ifndef EVZK_CLOSING_H
#define EVZK_CLOSING_H

#include "lib/session/session.h"

/* The session is over, with this result: machines and the application are told
 * next. */
void evzk__closing_over(evzk_session *s, int rc);

/* Tells the server, once nothing is in flight; `what` the client waits for. */
void evzk__closing_say_farewell(evzk_session *s, int what);

/* The session is being closed: is something to be deleted first that ended
 * machines have left, and would stay? */
bool evzk__closing_tidies(evzk_session *s);

/* From now on nothing new is sent, but for that, and nothing is held. */
void evzk__closing_begin(evzk_session *s);

/* Does what can be done now of closing; nothing while the session runs. */
void evzk__closing_step(evzk_session *s);

#endif
