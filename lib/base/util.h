/* What every layer uses, and the C library does not have. */
#ifndef EVZK_UTIL_H
#define EVZK_UTIL_H

#include <stddef.h>

/* The structure that contains the one at `p` as this member. */
#define evzk__container_of(p, type, member)                                    \
    ((type *)(void *)((char *)(p)-offsetof(type, member)))

#endif
