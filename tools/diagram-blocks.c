/* Parts of a table that have a picture of their own, or are a box in that of
 * the table: with them one picture would be too much. */
#include "tools/diagram.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct diagram_block blocks[] = {
    {"lock", "priority", "wait by priority", "with a priority", "its turn",
     {"PRIO_LISTING", "PRIO_WATCHING", "PRIO_CONFIRMING", "READING_OWN",
      "ENTERING", "RESOLVING_ENTRY", "ADOPTING_ENTRY"},
     {"CREATING", "PRIO_LISTING", "PRIO_WATCHING", "ENTERING", "LISTING"}},
    {"lock", "downgrade", "downgrade", "to become a read lock", "done, or not",
     {"CHECKING_WRITER", "SWAPPING", "CHECKING_SWAP", "SWAPPING_AGAIN",
      "CHECKING_READER"},
     {"HELD", "SWAPPING"}},
    {"election", "replace", "leader znode replaced",
     "one is there, or says something else", "done, or refused",
     {"CHECKING_RIVAL", "REPLACING", "CHECKING_LEADING", "REANNOUNCING"},
     {"ANNOUNCING", "CHECKING_RIVAL", "REPLACING", "LEADING", "REANNOUNCING"}},
    {"election", NULL, "CREATING ... CONFIRMING, as of a lock", "", "first",
     {"CREATING", "MAKING_PARENTS", "RESOLVING", "ADOPTING", "LISTING",
      "WATCHING", "CONFIRMING", "FORGETTING"},
     {NULL}},
};
/* clang-format on */

enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

int diagram_row(const struct evzk__kind *k, const char *name)
{
    for (int i = 0; i < k->n_rows; i++) {
        if (strcmp(k->rows[i].name, name) == 0)
            return i;
    }
    return -1;
}

static bool is_whole(const struct evzk__kind *k, const struct diagram_block *b)
{
    for (int i = 0; i < DIAGRAM_ROWS && b->rows[i]; i++) {
        if (diagram_row(k, b->rows[i]) < 0)
            return false;
    }
    return true;
}

const struct diagram_block *diagram_block(const struct evzk__kind *k, int i)
{
    for (int b = 0; b < BLOCKS; b++) {
        if (strcmp(blocks[b].kind, k->name) == 0 && is_whole(k, &blocks[b]) &&
            i-- == 0)
            return &blocks[b];
    }
    return NULL;
}

uint32_t diagram_block_rows(const struct evzk__kind *k,
                            const struct diagram_block *b)
{
    uint32_t set = 0;

    for (int i = 0; i < DIAGRAM_ROWS && b->rows[i]; i++) {
        int row = diagram_row(k, b->rows[i]);

        if (row >= 0)
            set |= EVZK__BIT(row);
    }
    return set;
}

bool diagram_in_block(const struct evzk__kind *k, int state)
{
    const struct diagram_block *b;

    for (int i = 0; (b = diagram_block(k, i)) != NULL; i++) {
        uint32_t rows = diagram_block_rows(k, b);

        if (diagram_in(rows, state) && !diagram_in(rows, 0))
            return true;
    }
    return false;
}

int diagram_check_blocks(const struct evzk__kind *k)
{
    int n = 0;

    for (int b = 0; b < BLOCKS; b++) {
        if (strcmp(blocks[b].kind, k->name) != 0 || is_whole(k, &blocks[b]))
            continue;
        n++;
        fprintf(stderr,
                "tools/diagram-blocks.c: %s has not all rows of \"%s\"\n",
                k->name, blocks[b].title);
    }
    return n;
}
