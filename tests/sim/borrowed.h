/* What requests borrow (request/step.h): a name that is asked for must not be
 * freed before the last reply. */
#ifndef SIM_BORROWED_H
#define SIM_BORROWED_H

#include "evzk/session.h"

/* For processes.c: after each reaction of a machine of the process. */
void borrowed_check(int proc, evzk_session *s);

#endif
