/* What the recipes share that can write the names of other libraries. */
#ifndef EVZK_PARTS_DIALECT_H
#define EVZK_PARTS_DIALECT_H

#include "lib/machine/machine.h"
#include "lib/machine/refuse.h"

/* As much as evzk__dialect_guid() writes, with its terminating zero. */
enum { EVZK__DIALECT_GUID = 3 + EVZK__GUID_LEN + 1 };

/* Writes a fresh GUID as names of the dialect begin.  0 or EVZK_ERR_INTERNAL;
 * `out` is a string in any case. */
int evzk__dialect_guid(evzk_dialect dialect, char out[EVZK__DIALECT_GUID]);

/* The directory of the dialect's contenders.  Kazoo's objects make it once, and
 * fail if it goes away; Curator's make containers. */
enum evzk__dir_use evzk__dialect_dir(evzk_dialect dialect);

/* Do the data of a directory of Kazoo's leases say another number of them?  As
 * Kazoo reads them: blanks around the digits are none of the number, and what
 * is no number says nothing. */
bool evzk__kazoo_other_number(uint32_t leases, const void *data, size_t len);

/* EVZK_ERR_INVAL, with a line in the log, for a number that is no dialect. */
bool evzk__broken_dialect(const struct evzk__call *call, evzk_dialect dialect);

#endif
