/* The session's connection: made, watched, lost, and made again. */
#ifndef EVZK_CONNECTION_H
#define EVZK_CONNECTION_H

#include "lib/session/session.h"

/* The pause after a connection that did not last, or could not be made. */
enum { EVZK__RETRY_US = 100000 };

/* ---- session/connect.c ---- */

/* Makes a connection when there is none, and presents credentials. */
void evzk__connection_keep(evzk_session *s);

/* Notices that the client has opened another socket. */
void evzk__connection_note_attempt(evzk_session *s);

/* ---- session/connection.c ---- */

/* Compares the client's state with the last known one, and handles a change. */
void evzk__connection_check(evzk_session *s);

/* Gives the connection up; requests in flight are answered with CONNLOSS. */
void evzk__connection_lost(evzk_session *s);

/* Throws the present client away, without an event. */
void evzk__connection_free_handle(evzk_session *s);

/* Frees the client that was lost, when its watches have been taken out. */
void evzk__connection_bury(evzk_session *s);

#endif
