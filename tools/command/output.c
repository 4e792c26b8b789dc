/* JSON and tables. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "command.h"
#include "output.h"

/* Of an error of an earlier write nobody knows the reason any more. */
int output_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STATUS_OK;
    complain("cannot write the answer: %s",
             errno ? strerror(errno)
                   : "is the disk full, or the standard output closed?");
    return STATUS_FAILED;
}

int output_json(struct json_object *value)
{
    puts(json_object_to_json_string_ext(
        value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(value);
    return output_flush();
}

struct libscols_table *output_columns(const char *const *headings, size_t n)
{
    struct libscols_table *table = scols_new_table();

    if (table)
        scols_table_enable_noencoding(table, 1);
    for (size_t i = 0; table && i < n; i++)
        scols_table_new_column(table, headings[i], 0, 0);
    return table;
}

/* libsmartcols has escapes of its own, which spoil those that are there. */
static void set_cell(struct libscols_line *line, size_t column,
                     const char *text)
{
    char *shown = NULL;
    size_t size;
    FILE *to = text ? open_memstream(&shown, &size) : NULL;

    if (!to)
        return;
    bytes_print_text(to, text);
    fclose(to);
    scols_line_refer_data(line, column, shown);
}

void output_row(struct libscols_table *table, const char *const *cells,
                size_t n)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);

    for (size_t i = 0; line && i < n; i++)
        set_cell(line, i, cells[i]);
}

int output_table(struct libscols_table *table)
{
    if (!table) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    scols_print_table(table);
    scols_unref_table(table);
    return output_flush();
}
