/* Draws the recipes' state machines from their tables, for doc/: the diagrams
 * cannot drift from what runs.
 *
 *     evzk-diagram lock | dot -Tsvg > doc/lock.svg
 *     evzk-diagram                  names the tables, and parts of them
 *     evzk-diagram --moves          all that they allow, as traces have it
 *     evzk-diagram --check          words and parts that no table has any more
 *
 * For people.  The straight way (the column `main`) goes down the middle in
 * bold.  Each arrow has the names of its events, and what a reply means.  What
 * nearly all states have is said once, in notes at the foot. */
#include "tools/diagram.h"

#include <stdio.h>
#include <string.h>

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

/* ---- One picture ---- */

static struct {
    const struct evzk__kind *k;
    const struct diagram_block *only; /* Or NULL: the others are boxes. */
    uint32_t shown, near;             /* The rows drawn; those beside them. */
} view;

static bool is_near(int state)
{
    for (int i = 0; i < view.k->n_rows; i++) {
        if (diagram_in(view.shown, i) && (diagram_has_arrow(view.k, i, state) ||
                                          diagram_has_arrow(view.k, state, i)))
            return !diagram_in(view.shown, state);
    }
    return false;
}

static void choose(const struct evzk__kind *k, const struct diagram_block *only)
{
    const struct diagram_block *b;

    view.k = k;
    view.only = only;
    view.near = 0;
    view.shown = EVZK__BIT(k->n_rows) - 1;
    for (int i = 0; !only && (b = diagram_block(k, i)) != NULL; i++)
        view.shown &= ~diagram_block_rows(k, b);
    if (only)
        view.shown = diagram_block_rows(k, only);
    view.shown &= ~diagram_detours(k);
    for (int i = 0; only && i < k->n_rows; i++)
        view.near |= is_near(i) ? EVZK__BIT(i) : 0;
}

/* The row's place on the block's own way; -1: it is aside. */
static int on_way(int state)
{
    const char *const *way = view.only->way;

    for (int i = 0; i < DIAGRAM_ROWS && way[i]; i++) {
        if (diagram_row(view.k, way[i]) == state)
            return i;
    }
    return -1;
}

static int place_on_way(int state)
{
    const char *const *way = view.only->way;
    int at = on_way(state);

    if (at >= 0)
        return 10 * at;
    for (int i = 0; i < DIAGRAM_ROWS && way[i]; i++) {
        if (diagram_has_arrow(view.k, diagram_row(view.k, way[i]), state))
            return 10 * i + 5;
    }
    return 10 * DIAGRAM_ROWS + state;
}

static int place(int state)
{
    return view.only ? place_on_way(state) : diagram_place(view.k, state);
}

static bool is_main(int from, int to)
{
    if (!view.only)
        return view.k->rows[from].main == to;
    return on_way(from) >= 0 && on_way(to) == on_way(from) + 1;
}

static void node(int state)
{
    const struct evzk__row *r = &view.k->rows[state];
    bool main = view.only ? on_way(state) >= 0 : diagram_on_main(view.k, state);

    printf("  %s [", r->name);
    if (main)
        printf("group=main, ");
    if (diagram_in(view.near, state)) {
        printf("style=\"rounded,dashed\", fontcolor=\"#606060\"];\n");
        return;
    }
    if (main)
        printf("penwidth=2, ");
    if (r->flags & EVZK__FINAL)
        printf("peripheries=2, ");
    printf("fillcolor=\"%s\"];\n", r->flags & EVZK__HOLDS ? "#cfe8cf"
                                   : main                 ? "#e8eef7"
                                                          : "#ffffff");
}

/* An arrow that leads up is written the other way round: dot keeps the order of
 * the rows. */
static void begin_arrow(const char *from, const char *to, bool up, bool main)
{
    printf("  %s -> %s [%s%slabel=\"", up ? to : from, up ? from : to,
           up ? "dir=back, " : "", main ? "penwidth=3, weight=20, " : "");
}

static void arrow(int from, int to)
{
    const struct evzk__row *rows = view.k->rows;

    begin_arrow(rows[from].name, rows[to].name, place(from) > place(to),
                is_main(from, to));
    diagram_print_names(view.k, from, to);
    printf("\"];\n");
}

static bool is_visible(int state)
{
    return diagram_in(view.shown | view.near, state);
}

static void rows_and_arrows(void)
{
    for (int i = 0; i < view.k->n_rows; i++) {
        if (is_visible(i))
            node(i);
    }
    for (int from = 0; from < view.k->n_rows; from++) {
        for (int to = 0; to < view.k->n_rows; to++) {
            if (is_visible(from) && is_visible(to) &&
                (diagram_in(view.shown, from) || diagram_in(view.shown, to)) &&
                diagram_has_arrow(view.k, from, to))
                arrow(from, to);
        }
    }
}

/* The arrows between a row and the box: 1: to the box; 2: from the box; 4: on
 * the straight way. */
static int box_leads(uint32_t rows, int state)
{
    const struct evzk__row *r = view.k->rows;
    int what = 0;

    for (int i = 0; i < view.k->n_rows; i++) {
        if (!diagram_in(rows, i))
            continue;
        what |= diagram_has_arrow(view.k, state, i) ? 1 : 0;
        what |= diagram_has_arrow(view.k, i, state) ? 2 : 0;
        what |= r[state].main == i || r[i].main == state ? 4 : 0;
    }
    return what;
}

static int box_place(uint32_t rows)
{
    int place = diagram_place(view.k, __builtin_ctz(rows));

    for (int i = 0; i < view.k->n_rows; i++) {
        if (diagram_in(rows, i) && diagram_place(view.k, i) < place)
            place = diagram_place(view.k, i);
    }
    return place;
}

static void box(const struct diagram_block *b, int n)
{
    uint32_t rows = diagram_block_rows(view.k, b);
    char id[16];

    snprintf(id, sizeof id, "box%d", n);
    printf("  %s [shape=box3d, style=filled, fillcolor=\"#f4f0e0\", label=\"",
           id);
    diagram_print_label("", b->title, "", "");
    printf("\"%s];\n",
           diagram_on_main(view.k, __builtin_ctz(rows)) ? ", group=main" : "");
    for (int i = 0; i < view.k->n_rows; i++) {
        int what = diagram_in(view.shown, i) ? box_leads(rows, i) : 0;
        bool below = diagram_place(view.k, i) > box_place(rows);

        if (what & 1) {
            begin_arrow(view.k->rows[i].name, id, below, what & 4);
            diagram_print_label("", b->in, "", "");
            printf("\"];\n");
        }
        if (what & 2) {
            begin_arrow(id, view.k->rows[i].name, !below, what & 4);
            diagram_print_label("", b->out, "", "");
            printf("\"];\n");
        }
    }
}

static void draw(const struct evzk__kind *k, const struct diagram_block *only)
{
    const struct diagram_block *b;

    choose(k, only);
    printf("digraph \"%s\" {\n"
           "  graph [ranksep=0.25, nodesep=0.2, fontsize=9, "
           "fontname=\"Helvetica,sans-serif\"];\n"
           "  node [shape=box, style=\"rounded,filled\", "
           "fontname=\"Helvetica,sans-serif\", fontsize=11, height=0.3];\n"
           "  edge [fontname=\"Helvetica,sans-serif\", fontsize=9, "
           "arrowsize=0.7];\n",
           k->name);
    rows_and_arrows();
    for (int i = 0; !only && (b = diagram_block(k, i)) != NULL; i++)
        box(b, i);
    diagram_notes(k, view.shown);
    printf("}\n");
}

/* Draws the kind, or a part of it, if that is its name. */
static bool draw_named(const struct evzk__kind *k, const char *name)
{
    const struct diagram_block *b;
    size_t len = strlen(k->name);

    if (strcmp(k->name, name) == 0) {
        draw(k, NULL);
        return true;
    }
    for (int i = 0; (b = diagram_block(k, i)) != NULL; i++) {
        if (b->name && strncmp(name, k->name, len) == 0 && name[len] == '-' &&
            strcmp(name + len + 1, b->name) == 0) {
            draw(k, b);
            return true;
        }
    }
    return false;
}

static void print_names(const struct evzk__kind *k)
{
    const struct diagram_block *b;

    puts(k->name);
    for (int i = 0; (b = diagram_block(k, i)) != NULL; i++) {
        if (b->name)
            printf("%s-%s\n", k->name, b->name);
    }
}

/* ---- All moves ---- */

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

static int check_all(void)
{
    int n = 0;

    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++)
        n += diagram_check_words(*k) + diagram_check_blocks(*k);
    return n > 0;
}

/* Tells on stderr the rows whose column `main` is a circle; how many kinds have
 * one. */
static int refuse_circles(void)
{
    int n = 0;

    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        const struct evzk__row *rows = (*k)->rows;
        int first = diagram_circle(*k), at = first;

        if (first < 0)
            continue;
        fprintf(stderr,
                "evzk-diagram: %s: the column `main` goes round: ", (*k)->name);
        do {
            fprintf(stderr, "%s -> ", rows[at].name);
            at = rows[at].main;
        } while (at != first);
        fprintf(stderr, "%s\n", rows[first].name);
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    if (refuse_circles() > 0)
        return 1;
    if (argc == 2 && strcmp(argv[1], "--check") == 0)
        return check_all();
    if (argc == 2 && strcmp(argv[1], "--moves") == 0) {
        print_all_moves();
        return 0;
    }
    for (const struct evzk__kind *const *k = evzk__kinds; *k; k++) {
        if (argc == 2 && draw_named(*k, argv[1]))
            return 0;
        if (argc == 1)
            print_names(*k);
    }
    return argc != 1;
}
