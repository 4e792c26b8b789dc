/* What operators, servers and the network do in the scenes of several recipes.
 * A function with one intptr_t is made for scene_timer_set(). */
#ifndef SIM_SCENE_ACTS_H
#define SIM_SCENE_ACTS_H

#include <stdint.h>

/* Sets a timer that belongs to no process; 0 ms: none. */
void act_after(int ms, void (*act)(intptr_t arg), intptr_t arg);

/* The servers end the session of the process. */
void act_expire(intptr_t proc);
/* The connection of the process is reset. */
void act_cut(intptr_t proc);
/* The process is stopped for so long. */
void act_freeze(int proc, int64_t for_us);
/* No server takes a connection for so long. */
void act_refuse_all(int64_t for_us);
/* The process closes its session. */
void act_close_session(int proc);

/* An operator deletes the first child of the directory; or all children whose
 * names have `tag` in them ("": all). */
void act_delete_first(const char *dir);
void act_delete_children(const char *dir, const char *tag);

#endif
