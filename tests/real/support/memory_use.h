/* How much memory the program has allocated, for tests of what an object takes.
 * OWN_MALLOC: a sanitizer's allocator is in place, and the figure says nothing.
 */
#ifndef TESTS_REAL_MEMORY_USE_H
#define TESTS_REAL_MEMORY_USE_H

#include <malloc.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define OWN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_MALLOC 1
#endif
#endif
#ifndef OWN_MALLOC
#define OWN_MALLOC 0
#endif

static inline size_t memory_in_use(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

#endif
