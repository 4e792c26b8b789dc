/* How most scenes begin: the same servers, and no hook of an earlier scene. */
#ifndef SIM_SCENE_SETUP_H
#define SIM_SCENE_SETUP_H

#include "ens.h"
#include "processes.h"
#include "scene.h"

enum { SCENE_LAG_US = 50 * 1000 };

/* Three servers, near each other.  A scene copies them, to change something: a
 * link of SCENE_LAG_US, say, so that the followers lag. */
extern const struct ens_config scene_servers;

/* Takes out every hook of processes.h and ens.h: the scene sets its own
 * afterwards. */
void scene_unhook(void);

/* For `ens_removes`: any process may delete what others made. */
bool scene_any_removes(int proc, const char *path);

/* For `ens_takes`.  Of an election: a candidate takes away the `leader` of a
 * session that has no candidate before it; before an operator's copy of its own
 * znode, too: what it may not know is for ens_copy_trusted().  Of a queue: what
 * is taken is an item, which a producer's session may own. */
bool scene_takes_leader(int64_t session, const char *path);
bool scene_takes_item(int64_t session, const char *path);

/* Opens all processes of the scene: the first is connected to a follower, the
 * second to the leader, the third to the other follower. */
void scene_open(const struct sim_scene *sc, const struct process_config *cfg);

/* The chroot of the scene's sessions, which do not make it; NULL: none.  It is
 * missing until an operator makes it after so many milliseconds; 0: never. */
void scene_root(const char *chroot, int made_ms);
/* Was it never there so far?  Then nothing else is told. */
bool scene_rootless(void);
/* Is it missing now, so that this may be told? */
bool scene_lacks_root(void);

#endif
