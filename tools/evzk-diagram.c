/* Draws the recipes' state machines from their tables, for doc/: the diagrams
 * cannot drift from what runs.
 *
 *     evzk-diagram lock | dot -Tsvg > doc/lock.svg
 *     evzk-diagram                  names the tables
 *     evzk-diagram --moves          all that they allow, as traces have it
 *
 * For people.  The straight way (the column `main`) goes down the middle in
 * bold.  Each arrow has the names of its events, and what a reply means.  What
 * nearly all states have is said once, in notes at the foot. */
#include "tools/diagram.h"

#include <stdio.h>
#include <string.h>

static void node(const struct evzk__kind *k, int state)
{
    const struct evzk__row *r = &k->rows[state];
    bool main = diagram_on_main(k, state);

    printf("  %s [", r->name);
    if (main)
        printf("group=main, penwidth=2, ");
    if (r->flags & EVZK__FINAL)
        printf("peripheries=2, ");
    printf("fillcolor=\"%s\"];\n", r->flags & EVZK__HOLDS ? "#cfe8cf"
                                   : main                 ? "#e8eef7"
                                                          : "#ffffff");
}

enum { COLUMNS = 16 };

void diagram_print_label(const char *open, const char *words, const char *close,
                         const char *comma)
{
    size_t col = 0;

    printf("  %s", open);
    while (*words) {
        size_t len = strcspn(words, " ");

        if (col > 0 && col + 1 + len > COLUMNS) {
            printf("\\l  ");
            col = 0;
        }
        printf("%s%.*s", col ? " " : "", (int)len, words);
        col += len + (col > 0);
        words += len + strspn(words + len, " ");
    }
    printf("%s%s\\l", close, comma);
}

/* How far down: the straight way's rows by their order, others below the first
 * of those that lead there. */
static int place_of(const struct evzk__kind *k, int state)
{
    int at = 0, place = 0;

    for (; at != EVZK__ASIDE; at = k->rows[at].main, place += 10) {
        if (at == state)
            return place;
        if (!diagram_on_main(k, state) && diagram_has_arrow(k, at, state))
            return place + 5;
    }
    return place + 1 + state;
}

/* One that leads up is written down turned round: dot keeps the order. */
static void arrow(const struct evzk__kind *k, int from, int to)
{
    bool main = k->rows[from].main == to;
    bool up = place_of(k, from) > place_of(k, to);

    printf("  %s -> %s [%s%slabel=\"", k->rows[up ? to : from].name,
           k->rows[up ? from : to].name, up ? "dir=back, " : "",
           main ? "penwidth=3, weight=20, " : "");
    diagram_print_names(k, from, to);
    printf("\"];\n");
}

static void arrows(const struct evzk__kind *k, int from)
{
    for (int to = 0; to < k->n_rows; to++) {
        if (diagram_has_arrow(k, from, to))
            arrow(k, from, to);
    }
}

static void draw(const struct evzk__kind *k)
{
    printf("digraph \"%s\" {\n"
           "  graph [ranksep=0.25, nodesep=0.2, fontsize=9, "
           "fontname=\"Helvetica,sans-serif\"];\n"
           "  node [shape=box, style=\"rounded,filled\", "
           "fontname=\"Helvetica,sans-serif\", fontsize=11, height=0.3];\n"
           "  edge [fontname=\"Helvetica,sans-serif\", fontsize=9, "
           "arrowsize=0.7];\n",
           k->name);
    for (int i = 0; i < k->n_rows; i++) {
        if (evzk__has_row(k, i) && !diagram_in(diagram_detours(k), i))
            node(k, i);
    }
    for (int i = 0; i < k->n_rows; i++)
        arrows(k, i);
    diagram_notes(k);
    printf("}\n");
}

static void print_move(const struct evzk__kind *k, int from, int cause, int to)
{
    printf("%s -(%s)-> %s\n", k->rows[from].name, evzk__cause_name[cause],
           k->rows[to == EVZK__HERE ? from : to].name);
}

static void print_moves(const struct evzk__kind *k, int from)
{
    unsigned again = EVZK__RETRY | EVZK__HOLDS | EVZK__UNSENT;

    for (int c = 0; c < EVZK__CAUSES; c++) {
        uint32_t may = evzk__row_may(k, from, (enum evzk__cause)c);

        for (int to = 0; to <= EVZK__HERE; to++) {
            if (diagram_in(may, to))
                print_move(k, from, c, to);
        }
    }
    if (k->rows[from].flags & again)
        print_move(k, from, EVZK__ON_REPLY, from);
}

static void print_all_moves(void)
{
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        printf("-(%s)-> %s\n", evzk__cause_name[EVZK__ON_START],
               (*k)->rows[0].name);
        for (int i = 0; i < (*k)->n_rows; i++)
            print_moves(*k, i);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--moves") == 0) {
        print_all_moves();
        return 0;
    }
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        if (argc == 2 && strcmp((*k)->name, argv[1]) == 0) {
            draw(*k);
            return diagram_check_words(*k) > 0;
        }
        if (argc == 1)
            puts((*k)->name);
    }
    return argc != 1;
}
