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
           r->flags & EVZK__WATCHES ? "hears of watches; " : "",
           r->flags & EVZK__STAYS ? "hears when it has stayed; " : "",
           r->flags & EVZK__HEEDS ? "hears what its user asks; " : "",
           r->flags & EVZK__FRESH ? "ends at once while unsent; " : "",
           r->flags & EVZK__FINAL ? "final" : "");
}

static void edges(const struct evzk__kind *k, int from)
{
    const struct evzk__row *r = &k->rows[from];

    for (int to = 0; to < k->n_rows; to++) {
        const char *label = to == r->stop && to == r->expiry ? "stop, expiry"
                            : to == r->stop                  ? "stop"
                            : to == r->expiry                ? "expiry"
                                                             : "";

        if (evzk__row_next(k, from) & EVZK__TO(to))
            printf("  %s -> %s [label=\"%s\"%s];\n", r->name, k->rows[to].name,
                   label, label[0] ? ", style=dashed" : "");
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
