/* A hash of texts, FNV-1a: for tables in memory alone, not for what others
 * might choose to collide. */
#ifndef EVZK_HASH_H
#define EVZK_HASH_H

#include <stdint.h>

#define EVZK__HASH_BEGIN 2166136261u

static inline uint32_t evzk__hash_byte(uint32_t hash, uint8_t byte)
{
    return (hash ^ byte) * 16777619u;
}

static inline uint32_t evzk__hash_text(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = evzk__hash_byte(hash, (uint8_t)*text);
    return hash;
}

#endif
