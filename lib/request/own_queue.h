/* The session's own contenders in a directory, in the order of their sequence
 * numbers, and their watches.
 *
 * What a session knows of its own contenders it need not ask a server: who of
 * them comes next, whose watch has fired, and who is first when the first has
 * left. */
#ifndef EVZK_QUEUE_H
#define EVZK_QUEUE_H

#include "lib/request/dir.h"

/* On its own znode, of its end and of its data; and on one before it, of its
 * end alone: what is written to that is no news. */
enum evzk__which { EVZK__OWN, EVZK__PRED };

/* A watch on a znode of the owner's directory.  The client knows one watcher
 * for all; events are handed out by name. */
struct evzk__watch {
    const char *name; /* The owner's. */
    uint8_t which;    /* Which of the owner's watches this is. */
    bool listed;      /* The owner is to hear of it. */
    bool armed;       /* Answered: it stands, or may. */
};

/* One that has no znode here, and never will, may watch others all the same: an
 * onlooker.  Its own watch is then on any znode, there or not, of all that
 * becomes of it. */

/* The machine, which is in no queue, has a znode of this name; its own watch's
 * name is set. */
void evzk__queue_enter(struct evzk__machine *m, const char *name, int32_t seq);

/* It has another znode; `own`, where the name is kept, gets the new one. */
void evzk__queue_rename(struct evzk__machine *m, char *own, const char *name,
                        int32_t seq);

/* The machine, which is in the queue, waits for this one of ours, or for none.
 * One waits for one: whoever did so before has come to stand behind us, and has
 * a watch. */
void evzk__queue_follow(struct evzk__machine *m, struct evzk__machine *before);

/* It waits for none of ours any more. */
void evzk__queue_stray(struct evzk__machine *m);

/* Its znode is gone, or does not count any more.  The next one hears, if it
 * waits for this one; who is first then, it does not know. */
void evzk__queue_leave(struct evzk__machine *m);

/* Unless one of ours is in it, or on its way, it is ours no more. */
void evzk__queue_emptied(struct evzk__dir *d);

/* It is first, and begins to leave: the next one, if it waits for this one, is
 * first from now on, or as soon as it has seen this one's znode.  While
 * either's znode stands, nobody else can be. */
void evzk__queue_pass(struct evzk__machine *m);

/* The znode before its own was read: it is that of the one it waits for. */
void evzk__queue_seen(struct evzk__machine *m);

/* Is this one the only one, but for those whose delete is on its way? */
bool evzk__queue_lone(struct evzk__dir *d, const char *name);

/* Does one of ours stand in it, and stay there, so that the directory stays? */
bool evzk__queue_keeps_dir(const struct evzk__dir *d);

/* Should its znode go, would we hear? */
bool evzk__queue_guarded(struct evzk__machine *m);

/* The nearest one before; NULL: none of ours. */
struct evzk__machine *evzk__queue_before(struct evzk__machine *m);

/* The contender of ours with this znode, or NULL. */
struct evzk__machine *evzk__queue_find(struct evzk__dir *d, const char *name);

/* Lists a watch, which is not listed, of a machine on a name. */
void evzk__watch_add(struct evzk__machine *m, struct evzk__watch *w,
                     const char *name);

/* Takes it off the list, if it is on.  True: the server has a watch for it. */
bool evzk__watch_remove(struct evzk__machine *m, struct evzk__watch *w);

/* Is there a watch of its own contender on this znode, or of one behind it? */
bool evzk__watch_any(const evzk_session *s, struct evzk__dir *d,
                     const char *name, enum evzk__which which);

/* A watch has fired: all who have it hear, and it is off the list.  Of the end
 * the znode's own contender hears, too, who need not have asked. */
void evzk__watch_fired(evzk_session *s, struct evzk__dir *d, const char *name,
                       enum evzk__watch_event ev);

#endif
