/* Allocation: everything the library allocates goes through here. */
#ifndef EVZK_MEM_H
#define EVZK_MEM_H

#include <stddef.h>

/* All may return NULL; sizes of 0 give a pointer that can be freed. */
void *evzk__zalloc(size_t size);
void *evzk__memdup(const void *data, size_t len); /* One zero byte follows. */
char *evzk__strdup(const char *s);
char *evzk__concat(const char *a, const char *b);
void evzk__free(void *p);

/* The C library puts small pieces that are freed aside, and joins all of them
 * when it is next asked for a large one: 300,000 at once hold the loop for 40
 * ms.  Called now and then while the C client frees many, this spreads it. */
void evzk__mem_settle(void);

#endif
