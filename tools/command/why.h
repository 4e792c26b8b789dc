/* What `why` prints. */
#ifndef EVZK_COMMAND_WHY_H
#define EVZK_COMMAND_WHY_H

#include <stdbool.h>

#include "waits.h"

/* Finds the circles and prints the graph: as a table, as JSON, or for Graphviz.
 * Returns an exit status. */
int why_print(struct waits *w, const char *path, bool dot);

#endif
