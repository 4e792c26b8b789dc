/* What nearly all rows have, said once at the foot: stop, error, the session's
 * end, a lost connection, entering the same row again, and what of the straight
 * way is not drawn. */
#include "tools/diagram.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 32, MANY = 8 };

static struct {
    uint32_t shown; /* The rows that the picture shows. */
    int n;          /* Notes so far. */
    int abreast;    /* So many beside each other. */
    int col;        /* Of the present line. */
} notes;

/* ---- A note: a title, and words broken into lines ---- */

static void begin(const char *title)
{
    if (notes.n % notes.abreast == 0)
        printf("%s    <TR>", notes.n > 0 ? "</TR>\n" : "");
    notes.n++;
    notes.col = 0;
    printf("\n    <TD ALIGN=\"LEFT\" VALIGN=\"TOP\"><B>%s</B>"
           "<BR ALIGN=\"LEFT\"/>",
           title);
}

static void line(void)
{
    if (notes.col > 0)
        printf("<BR ALIGN=\"LEFT\"/>");
    notes.col = 0;
}

static void word(const char *text)
{
    int len = (int)strlen(text);

    if (notes.col > 0 && notes.col + 1 + len > COLUMNS)
        line();
    printf("%s%s", notes.col ? " " : "", text);
    notes.col += len + (notes.col > 0);
}

static void words(const char *text)
{
    char one[64];

    while (sscanf(text, "%63s", one) == 1) {
        word(one);
        text += strspn(text, " ");
        text += strlen(one);
    }
}

static void states(const struct evzk__kind *k, uint32_t set)
{
    char text[64];

    for (int i = 0; i < k->n_rows; i++) {
        if (!diagram_in(set, i))
            continue;
        set &= ~EVZK__BIT(i);
        snprintf(text, sizeof text, "%s%s", k->rows[i].name, set ? "," : "");
        word(text);
    }
}

static void end(void)
{
    line();
    printf("</TD>");
}

/* ---- What they say ---- */

typedef bool row_test(const struct evzk__row *r, int what);

static uint32_t rows_where(const struct evzk__kind *k, row_test *has, int what)
{
    uint32_t set = 0;

    for (int i = 0; i < diagram_end(k); i++) {
        if (diagram_in(notes.shown, i) && has(&k->rows[i], what))
            set |= EVZK__BIT(i);
    }
    return set;
}

static bool is_row(const struct evzk__row *r, int what)
{
    (void)r, (void)what;
    return true;
}

static bool stops_at(const struct evzk__row *r, int to)
{
    return r->stop == to;
}

static bool expires_to(const struct evzk__row *r, int to)
{
    return r->expiry == to;
}

static bool has_flag(const struct evzk__row *r, int flag)
{
    return r->flags & flag;
}

static bool has_deadline(const struct evzk__row *r, int what)
{
    (void)what;
    return evzk__row_hears(r, EVZK__ON_DEADLINE);
}

static int count(uint32_t set) { return __builtin_popcount(set); }

/* Where most of the rest lead. */
static int most(const struct evzk__kind *k, row_test *has, uint32_t *from,
                uint32_t rest)
{
    int to = -1;

    *from = 0;
    for (int i = 0; i < k->n_rows; i++) {
        uint32_t set = rows_where(k, has, i) & rest;

        if (count(set) > count(*from)) {
            *from = set;
            to = i;
        }
    }
    return to;
}

/* "to A", and then "from B, C: to D". */
static void leads(const struct evzk__kind *k, row_test *has)
{
    uint32_t from, rest = rows_where(k, is_row, 0);

    for (bool first = true;; first = false) {
        int to = most(k, has, &from, rest);

        if (to < 0)
            return;
        word("to");
        word(k->rows[to].name);
        if (!first) {
            words("from");
            states(k, from);
        }
        line();
        rest &= ~from;
    }
}

static void note_stop(const struct evzk__kind *k)
{
    uint32_t wait = rows_where(k, stops_at, EVZK__STAY);

    begin("A stop, or an error");
    leads(k, stops_at);
    for (int i = 0; i < k->n_rows; i++) {
        if (rows_where(k, stops_at, i))
            wait &= ~EVZK__BIT(i); /* These rows are the way out. */
    }
    if (wait) {
        words("A stop waits for the reply in");
        states(k, wait);
    }
    line();
    if (rows_where(k, has_deadline, 0)) {
        words("The deadline: to");
        words(k->rows[diagram_end(k)].name);
    }
    end();
}

static void note_expiry(const struct evzk__kind *k)
{
    begin("The session has ended");
    leads(k, expires_to);
    end();
}

static void note_reconnected(const struct evzk__kind *k)
{
    uint32_t again =
        rows_where(k, has_flag, EVZK__RETRY | EVZK__HOLDS | EVZK__UNSENT);
    uint32_t not = rows_where(k, is_row, 0) & ~again;

    begin("The connection was lost");
    words("The same state again");
    if (not ) {
        words("but not");
        states(k, not );
    }
    end();
}

/* The events by which a row is entered again. */
static bool again(const struct evzk__kind *k, int state, bool any)
{
    const char *sep = "";
    char text[64];

    for (int c = 0; c < EVZK__CAUSES; c++) {
        uint32_t next = evzk__row_next(k, state, (enum evzk__cause)c);

        if (!diagram_event(k, c) || !diagram_in(next, state))
            continue;
        if (!any)
            begin("The same state again");
        any = true;
        if (!*sep) {
            snprintf(text, sizeof text, "%s:", k->rows[state].name);
            word(text);
        } else
            word("or");
        words(diagram_event(k, c));
        sep = "or";
    }
    line();
    return any;
}

static void note_again(const struct evzk__kind *k)
{
    bool any = false;

    for (int i = 0; i < diagram_end(k); i++)
        any = (diagram_in(notes.shown, i) && again(k, i, any)) || any;
    if (any)
        end();
}

static void note_anew(const struct evzk__kind *k)
{
    uint32_t from = diagram_anew(k) & notes.shown, by = diagram_detours(k);

    if (!from)
        return;
    begin("Its znode is gone");
    words("to");
    words(k->rows[0].name);
    if (by) {
        words("(by way of");
        states(k, by);
        words("where its watch has to go first)");
    }
    words("from");
    states(k, from);
    end();
}

static void note_broken(const struct evzk__kind *k)
{
    uint32_t from = diagram_broken(k) & notes.shown;

    if (!from)
        return;
    begin("Its znode is deleted");
    words("to");
    words(k->rows[diagram_end(k)].name);
    words("from");
    states(k, from);
    end();
}

static void note_shortcuts(const struct evzk__kind *k, int state)
{
    uint32_t to = diagram_shortcuts(k, state);

    if (!to || !diagram_in(notes.shown, state))
        return;
    begin("One trip less");
    words("The reply to");
    words(k->rows[state].name);
    words("may do for");
    words(k->rows[k->rows[state].main].name);
    words("too, and lead to");
    states(k, to);
    end();
}

static void note_legend(const struct evzk__kind *k)
{
    begin("Arrows");
    words("Bold: the straight way.");
    words("In quotes: what a reply says.");
    words("\"At once\": as the state is entered.");
    if (rows_where(k, has_flag, EVZK__HOLDS))
        words("Green states hear of doubt and of the lease.");
    end();
}

void diagram_notes(const struct evzk__kind *k, uint32_t shown)
{
    notes.n = 0;
    notes.shown = shown;
    notes.abreast = k->n_rows > MANY ? 4 : 3;
    printf("  graph [labelloc=b, label=<<TABLE BORDER=\"0\" "
           "CELLBORDER=\"1\" CELLSPACING=\"4\" CELLPADDING=\"4\" "
           "COLOR=\"#b0b0b0\" BGCOLOR=\"#fffdf3\">\n");
    note_legend(k);
    note_stop(k);
    note_expiry(k);
    note_reconnected(k);
    note_anew(k);
    note_broken(k);
    for (int i = 0; i < diagram_end(k); i++)
        note_shortcuts(k, i);
    note_again(k);
    printf("</TR></TABLE>>];\n");
}
