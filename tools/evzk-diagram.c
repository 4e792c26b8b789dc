/* Draws the recipes' state machines from their tables, for doc/: the diagrams
 * cannot drift from what runs.
 *
 *     evzk-diagram lock | dot -Tsvg > doc/lock.svg
 */
#include <stdio.h>
#include <string.h>

#include "recipes/kinds.h"

static void node(const struct evzk__row *r)
{
    printf("  %s [", r->name);
    if (r->flags & EVZK__FINAL)
        printf("shape=doublecircle, ");
    if (r->flags & EVZK__HOLDS)
        printf("style=\"filled,rounded\", fillcolor=\"#d8ecd8\", ");
    printf("tooltip=\"%s%s%s%s%s%s%s\"];\n",
           r->flags & EVZK__RETRY ? "repeated after a lost connection; " : "",
           r->flags & EVZK__HOLDS ? "hears of doubt and of the lease; " : "",
           evzk__row_watches(r) ? "hears of watches; " : "",
           evzk__row_hears(r, EVZK__ON_LINGERED) ? "hears when it lingers; "
                                                 : "",
           evzk__row_hears(r, EVZK__ON_USER_EVENT) ? "hears its user; " : "",
           r->flags & EVZK__FRESH ? "ends at once while unsent; " : "",
           r->flags & EVZK__FINAL ? "final" : "");
}

/* The events that lead from one row to another, as the arrow's name. */
static bool name_edge(const struct evzk__kind *k, int from, int to)
{
    bool any = false;

    for (int c = 0; c < EVZK__CAUSES; c++) {
        if (!(evzk__row_may(k, from, (enum evzk__cause)c) & EVZK__BIT(to)) ||
            c == EVZK__ON_CLOSED)
            continue;
        if (!any)
            printf("  %s -> %s [label=\"", k->rows[from].name,
                   k->rows[to].name);
        printf("%s%s", any ? ", " : "", evzk__cause_name[c]);
        any = true;
    }
    return any;
}

static void edges(const struct evzk__kind *k, int from)
{
    for (int to = 0; to < k->n_rows; to++) {
        if (name_edge(k, from, to))
            printf("\"];\n");
    }
}

static void draw(const struct evzk__kind *k)
{
    printf("digraph \"%s\" {\n"
           "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
           "  edge [fontname=\"Helvetica\", fontsize=10];\n"
           "  start [shape=point];\n  start -> %s;\n",
           k->name, k->rows[0].name);
    for (int i = 0; i < k->n_rows; i++) {
        if (evzk__has_row(k, i))
            node(&k->rows[i]);
    }
    for (int i = 0; i < k->n_rows; i++)
        edges(k, i);
    printf("}\n");
}

int main(int argc, char **argv)
{
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        if (argc == 2 && strcmp((*k)->name, argv[1]) == 0) {
            draw(*k);
            return 0;
        }
        if (argc == 1)
            puts((*k)->name);
    }
    return argc != 1;
}
