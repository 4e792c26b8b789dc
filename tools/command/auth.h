/* Credentials: from a file or the environment, never from the command line,
 * which every user of the machine can read. */
#ifndef EVZK_COMMAND_AUTH_H
#define EVZK_COMMAND_AUTH_H

#include <evzk/evzk.h>

/* Adds those that the settings name: 0, or an exit status with a message. */
int auth_add(evzk_session *session);

#endif
