/* Names of the znodes that Curator and Kazoo make for locks and elections. */
#ifndef EVZK_FOREIGN_H
#define EVZK_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

/* A contender of another library.  It does not wait for evzk's contenders, and
 * they do not wait for it. */
struct evzk__foreign {
    const char *library; /* "Curator" or "Kazoo". */
    int32_t seq;
    bool shares; /* The contender is a read lock. */
};

/* Parses "<some prefix><mark><sequence>", with a mark of another library.
 * False: the name has another form. */
bool evzk__foreign_parse(const char *name, struct evzk__foreign *f);

/* The library whose names begin like this one, whatever follows; or NULL. */
const char *evzk__foreign_maker(const char *name);

#endif
