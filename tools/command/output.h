/* What a subcommand prints on its standard output: JSON, or a table. */
#ifndef EVZK_COMMAND_OUTPUT_H
#define EVZK_COMMAND_OUTPUT_H

#include <stddef.h>

#include <json-c/json.h>
#include <libsmartcols/libsmartcols.h>

/* Prints a value on one line, and gives it back.  Returns STATUS_OK, or
 * STATUS_FAILED with a message when it cannot be written. */
int output_json(struct json_object *value);

/* A table with these headings, for output_row() and output_table(); NULL
 * without memory. */
struct libscols_table *output_columns(const char *const *headings, size_t n);

/* Adds a row; every cell is copied.  NULL is an empty cell. */
void output_row(struct libscols_table *table, const char *const *cells,
                size_t n);

/* Prints a table, and gives it back.  Returns as output_json() does. */
int output_table(struct libscols_table *table);

/* Has all been written?  STATUS_OK, or STATUS_FAILED with a message. */
int output_flush(void);

#endif
