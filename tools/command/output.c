/* JSON and tables. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "output.h"

int output_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STATUS_OK;
    complain("cannot write the answer: %s", strerror(errno));
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

    for (size_t i = 0; table && i < n; i++)
        scols_table_new_column(table, headings[i], 0, 0);
    return table;
}

void output_row(struct libscols_table *table, const char *const *cells,
                size_t n)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);

    for (size_t i = 0; line && i < n; i++)
        scols_line_set_data(line, i, cells[i]);
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
