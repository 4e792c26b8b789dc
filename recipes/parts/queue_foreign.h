/* Queues of other libraries in a plain queue's directory.
 *
 * Curator's DistributedQueue names its items as the recipes page does, and
 * frames their data: its consumers delete an item without that frame, and would
 * be handed the frame as data.  Others have names of their own: Curator's other
 * queues and its SimpleDistributedQueue, which is ZooKeeper's own example, and
 * Kazoo's Queue.  None of them sees evzk's items as evzk's consumers do. */
#ifndef EVZK_QUEUE_FOREIGN_H
#define EVZK_QUEUE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/machine/machine.h"

/* Is it the name of an item of another library's queue? */
bool evzk__queue_name_is_foreign(const char *name);
/* Is there such a name? */
bool evzk__queue_has_foreign(const struct evzk__names *names);

/* Are these data framed as Curator does? */
bool evzk__queue_data_is_foreign(const void *data, size_t len);

#endif
