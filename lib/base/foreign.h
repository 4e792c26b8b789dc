/* Names of znodes by which other libraries contend for a lock, or to lead. */
#ifndef EVZK_FOREIGN_H
#define EVZK_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

/* A contender that neither waits for evzk's nor is waited for. */
struct evzk__foreign {
    const char *library; /* "Curator" or "Kazoo". */
    int32_t seq;
    bool shares; /* It is a read lock. */
};

/* Reads "<some prefix><mark><sequence>", with a mark of another library.  False
 * when the name is not of this form. */
bool evzk__foreign_parse(const char *name, struct evzk__foreign *f);

/* The library that gives its names this beginning, whatever follows; or NULL.
 */
const char *evzk__foreign_maker(const char *name);

#endif
