/* Allocation: everything the library allocates goes through here. */
#ifndef EVZK_MEM_H
#define EVZK_MEM_H

#include <stddef.h>

/* All may return NULL; sizes of 0 give a pointer that can be freed. */
void *evzk__zalloc(size_t size);
void *evzk__memdup(const void *data, size_t len); /* One zero byte follows. */
char *evzk__strdup(const char *s);
char *evzk__concat(const char *a, const char *b);
char *evzk__join(const char *dir, const char *name); /* With a slash. */
void evzk__free(void *p);

/* The C library sets small freed blocks aside, and joins all of them at the
 * next large allocation: with 300,000 blocks that holds the loop for 40 ms.
 * Called now and then while the C client frees many blocks, this function
 * spreads the work. */
void evzk__mem_settle(void);

#endif
