/* The parts of tools/evzk-diagram. */
#ifndef EVZK_DIAGRAM_H
#define EVZK_DIAGRAM_H

#include "recipes/kinds.h"

static inline bool diagram_in(uint32_t set, int state)
{
    return set & EVZK__BIT(state);
}

static inline int diagram_end(const struct evzk__kind *k)
{
    return k->n_rows - 1;
}

/* ---- diagram-blocks.c: parts of a table ---- */

enum { DIAGRAM_ROWS = 12 };

struct diagram_block {
    const char *kind;
    const char *name;     /* Of its picture, behind the kind's; NULL: none. */
    const char *title;    /* Of its box in the kind's picture. */
    const char *in, *out; /* Of the arrows to the box, and from it. */
    const char *rows[DIAGRAM_ROWS];
    const char *way[DIAGRAM_ROWS]; /* The straight way through it. */
};

/* The kind's, one after another; NULL: no more. */
const struct diagram_block *diagram_block(const struct evzk__kind *k, int i);

uint32_t diagram_block_rows(const struct evzk__kind *k,
                            const struct diagram_block *b);

/* Is the row in one of them, and the first row is not? */
bool diagram_in_block(const struct evzk__kind *k, int state);

/* The row of that name; -1: there is none. */
int diagram_row(const struct evzk__kind *k, const char *name);

/* Tells on stderr the parts of which a row is missing; how many.  They are not
 * drawn. */
int diagram_check_blocks(const struct evzk__kind *k);

/* ---- diagram-arrows.c: what is drawn ---- */

/* Is the row on the straight way? */
bool diagram_on_main(const struct evzk__kind *k, int state);

/* A row from which the column `main` leads back to the same row: such a table
 * cannot be drawn.  -1: there is none. */
int diagram_circle(const struct evzk__kind *k);

/* The arrows that are drawn from one row to another. */
bool diagram_has_arrow(const struct evzk__kind *k, int from, int to);

/* How far down a row is. */
int diagram_place(const struct evzk__kind *k, int state);

/* Writes the names of their events; of a reply, in quotes, what it says. */
void diagram_print_names(const struct evzk__kind *k, int from, int to);

/* Where a row leads only because its reply may be good for the next row on the
 * straight way, too: that is not drawn. */
uint32_t diagram_shortcuts(const struct evzk__kind *k, int from);

/* The rows from which the first one is entered again, too many to draw; and the
 * rows that are only on the way there, and are not drawn either. */
uint32_t diagram_anew(const struct evzk__kind *k);
uint32_t diagram_detours(const struct evzk__kind *k);

/* The rows that end when their own znode is deleted: not drawn. */
uint32_t diagram_broken(const struct evzk__kind *k);

/* ---- evzk-diagram.c ---- */

/* Writes a label's words in short lines, between quotes, and a comma. */
void diagram_print_label(const char *open, const char *words, const char *close,
                         const char *comma);

/* ---- diagram-words.c: what events are called, and what replies mean ---- */

/* NULL: no arrow is drawn for it. */
const char *diagram_event(const struct evzk__kind *k, int cause);

/* NULL: only that it is a reply. */
const char *diagram_reply(const char *kind, const char *from, const char *to);

/* Tells on stderr the words that are of no arrow; how many. */
int diagram_check_words(const struct evzk__kind *k);

/* ---- diagram-notes.c: what is said once, at the foot ---- */

/* Of the rows that are shown. */
void diagram_notes(const struct evzk__kind *k, uint32_t shown);

#endif
