/* Bytes of users: items, values, data of members.  They need not be text. */
#ifndef EVZK_COMMAND_BYTES_H
#define EVZK_COMMAND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <json-c/json.h>

struct bytes {
    char *data; /* A zero byte follows; NULL: none. */
    size_t len;
};

/* A copy; false without memory. */
bool bytes_copy(struct bytes *to, const void *data, size_t len);

void bytes_free(struct bytes *b);

/* Reads all that a file has: 0, or an exit status with a message.  More than
 * `max` bytes are an error, for which `advice` says what to do. */
int bytes_read(struct bytes *to, FILE *from, size_t max, const char *advice);

/* Adds a member `name` to an object: the bytes as text.  Bytes that are no
 * UTF-8 are in base64, and the member is called `name`_base64. */
void bytes_add(struct json_object *object, const char *name, const void *data,
               size_t len);

/* Prints bytes on one line: control characters, and bytes that are no UTF-8, as
 * \n, \t or \x1b, and a backslash as two. */
void bytes_print(FILE *to, const void *data, size_t len);

/* The same, with a single backslash: for text that is escaped already, or has
 * nothing to escape if nobody means harm. */
void bytes_print_text(FILE *to, const char *text);

/* To the standard output, as the bytes are.  A terminal gets control characters
 * as \x1b, but for newlines and tabs: they could do it harm. */
void bytes_write(const void *data, size_t len);

#endif
