/* The bytes of the areas, for world.c, which saves them. */
#ifndef SIM_AREA_H
#define SIM_AREA_H

#include <stdbool.h>
#include <stddef.h>

bool area_plain(void); /* The areas are bytes here, and not malloc's. */
void *area_bytes(int area);
size_t area_used(int area); /* From the first byte to the last ever used. */
void area_forget(void);     /* All blocks of all areas are gone. */

/* Reports a violation if a freed block was written to. */
void area_check_freed(int area);

/* Does the text begin in a freed block?  Of text that has no such byte. */
bool area_is_freed(const char *text);

#endif
