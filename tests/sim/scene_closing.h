/* The end of a process in scenes whose objects go on in the background after
 * they were freed: its session is closed when nothing of it is under way. */
#ifndef SIM_SCENE_CLOSING_H
#define SIM_SCENE_CLOSING_H

#include <stdbool.h>

/* The process begins nothing more: closes its session soon.  It may be called
 * again. */
void close_when_idle(int proc);
/* Closes the session at once, as the explorer's call does.  False: there is
 * none, or it is being closed. */
bool close_early(int proc);
/* Something was still under way when the session was closed. */
bool closed_early(int proc);

#endif
