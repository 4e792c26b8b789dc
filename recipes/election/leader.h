/* What the `leader` znode of an election says: "<epoch> <znode>\n", and the
 * leader's data.  election/announce.c writes it. */
#ifndef EVZK_LEADER_H
#define EVZK_LEADER_H

#include "evzk/election.h"

/* Reads `text`, which has a zero byte behind it, and writes one into it: what
 * `leader` has then points there.  False: the text has another form. */
bool evzk__leader_parse(char *text, size_t len, evzk_leader *leader);

#endif
