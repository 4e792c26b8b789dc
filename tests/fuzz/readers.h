/* The readers of what comes from servers: names of znodes, and what znodes say.
 *
 * Each takes any bytes.  No input ends in a crash or a finding of a sanitizer,
 * and what a reader takes for good is what the library could have written: that
 * is asked by MUST(), which ends the program. */
#ifndef FUZZ_READERS_H
#define FUZZ_READERS_H

#include <stddef.h>
#include <stdint.h>

struct reader {
    const char *name; /* Of the folder of its seeds, too. */
    const char *about;
    void (*read)(const uint8_t *data, size_t len);
};

/* NULL at the end. */
extern const struct reader readers[];
const struct reader *reader_of(const char *name); /* NULL: there is none. */

#endif
