/* What `why` prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "output.h"
#include "why.h"

static const char *const headings[] = {"WAITER",  "SESSION", "FOR",
                                       "SESSION", "PATH",    "SINCE"};
#define COLUMNS (sizeof(headings) / sizeof(headings[0]))

/* The circles that were found. */
struct found {
    struct waits *w;
    struct json_object *circles; /* An array, with --json. */
    FILE *text;                  /* The same in words. */
    size_t n;
};

static bool is_shown(const struct wait *one)
{
    return !one->ahead || one->circle;
}

static const char *name_of(const struct waits *w, size_t process)
{
    return identity_text(&w->processes[process].who);
}

static struct json_object *process_json(const struct waits *w, size_t process)
{
    char session[SESSION_MAX];

    session_text(session, w->processes[process].session);
    return json_object_new_string(session);
}

static struct json_object *wait_json(const struct waits *w,
                                     const struct wait *one)
{
    struct json_object *o = json_object_new_object();

    json_object_object_add(o, "session", process_json(w, one->from));
    json_object_object_add(o, "for", process_json(w, one->to));
    json_object_object_add(o, "path", json_object_new_string(one->path));
    json_object_object_add(o, "age_ms", json_object_new_int64(one->age_ms));
    if (one->any)
        json_object_object_add(o, "any", json_object_new_boolean(true));
    return o;
}

static void keep_circle(struct wait *const *circle, size_t n, void *arg)
{
    struct found *f = arg;
    struct json_object *all = json_object_new_array();

    for (size_t i = 0; i < n; i++)
        json_object_array_add(all, wait_json(f->w, circle[i]));
    json_object_array_add(f->circles, all);
    f->n++;
}

static void print_circle(struct wait *const *circle, size_t n, void *arg)
{
    struct found *f = arg;

    f->n++;
    fprintf(f->text, "\ncircle %zu:\n", f->n);
    for (size_t i = 0; i < n; i++)
        fprintf(f->text, "  %s waits at %s for %s\n",
                name_of(f->w, circle[i]->from), circle[i]->path,
                circle[i]->from == circle[i]->to
                    ? "itself"
                    : name_of(f->w, circle[i]->to));
    fprintf(f->text,
            "  Nobody here goes on before another lets go: \"evzk revoke %s\" "
            "asks for that.\n",
            circle[0]->path);
}

static void count_circle(struct wait *const *circle, size_t n, void *arg)
{
    struct found *f = arg;

    (void)circle, (void)n;
    f->n++;
}

static int print_json(struct found *f, const char *path)
{
    struct json_object *all = json_object_new_object();
    struct json_object *list = json_object_new_array();

    json_object_object_add(all, "path", json_object_new_string(path));
    for (size_t i = 0; i < f->w->n_processes; i++) {
        struct json_object *o = json_object_new_object();

        json_object_object_add(o, "session", process_json(f->w, i));
        identity_json(o, &f->w->processes[i].who);
        json_object_array_add(list, o);
    }
    json_object_object_add(all, "processes", list);
    list = json_object_new_array();
    for (size_t i = 0; i < f->w->n_waits; i++) {
        if (is_shown(&f->w->waits[i]))
            json_object_array_add(list, wait_json(f->w, &f->w->waits[i]));
    }
    json_object_object_add(all, "waits", list);
    json_object_object_add(all, "circles", f->circles);
    return output_json(all);
}

/* A text in quotes, as Graphviz reads it. */
static void print_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void print_node(const struct waits *w, size_t process)
{
    char session[SESSION_MAX];

    session_text(session, w->processes[process].session);
    printf("    \"%s\" [label=\"", session);
    print_quoted(name_of(w, process));
    printf("\\n%s\"];\n", session);
}

static void print_edge(const struct waits *w, const struct wait *one)
{
    char from[SESSION_MAX], to[SESSION_MAX];

    session_text(from, w->processes[one->from].session);
    session_text(to, w->processes[one->to].session);
    printf("    \"%s\" -> \"%s\" [label=\"", from, to);
    print_quoted(one->path);
    printf("\"%s%s];\n", one->any ? ", style=dashed" : "",
           one->circle ? ", color=red, penwidth=2" : "");
}

/* Processes that neither wait nor are waited for are left out. */
static int print_dot(struct found *f)
{
    printf("digraph waits {\n    rankdir=LR;\n    node [shape=box];\n");
    for (size_t p = 0; p < f->w->n_processes; p++) {
        for (size_t i = 0; i < f->w->n_waits; i++) {
            if ((f->w->waits[i].from != p && f->w->waits[i].to != p) ||
                !is_shown(&f->w->waits[i]))
                continue;
            print_node(f->w, p);
            break;
        }
    }
    for (size_t i = 0; i < f->w->n_waits; i++) {
        if (is_shown(&f->w->waits[i]))
            print_edge(f->w, &f->w->waits[i]);
    }
    printf("}\n");
    return output_flush();
}

static void print_wait(struct libscols_table *table, const struct waits *w,
                       const struct wait *one)
{
    char from[SESSION_MAX], to[SESSION_MAX], age[AGE_MAX];
    const char *cells[COLUMNS] = {
        name_of(w, one->from), from, name_of(w, one->to), to, one->path, age};
    char any[IDENTITY_MAX + 16];

    session_text(from, w->processes[one->from].session);
    session_text(to, w->processes[one->to].session);
    age_text(age, one->age_ms);
    if (one->any) {
        snprintf(any, sizeof(any), "one of: %s", name_of(w, one->to));
        cells[2] = any;
    }
    output_row(table, cells, COLUMNS);
}

static int print_table(struct found *f, const char *path)
{
    struct libscols_table *table;

    if (f->w->n_waits == 0) {
        printf("nobody waits below %s (%zu lock%s held)\n", path, f->w->locks,
               f->w->locks == 1 ? " is" : "s are");
        return output_flush();
    }
    table = output_columns(headings, COLUMNS);
    for (size_t i = 0; table && i < f->w->n_waits; i++) {
        if (is_shown(&f->w->waits[i]))
            print_wait(table, f->w, &f->w->waits[i]);
    }
    return output_table(table);
}

/* The circles come behind the table, but have to be known before. */
static int print_words(struct found *f, const char *path)
{
    char *text = NULL;
    size_t size;
    int status = STATUS_FAILED;

    f->text = open_memstream(&text, &size);
    if (!f->text || !waits_circles(f->w, print_circle, f)) {
        complain("out of memory");
    } else {
        status = print_table(f, path);
        fflush(f->text);
        fputs(text, stdout);
    }
    if (f->text)
        fclose(f->text);
    free(text);
    return status ? status : output_flush();
}

int why_print(struct waits *w, const char *path, bool dot)
{
    struct found f = {.w = w};
    int status = STATUS_OK;

    if (w->failed) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    if (dot) {
        if (waits_circles(w, count_circle, &f))
            status = print_dot(&f);
    } else if (settings.json) {
        f.circles = json_object_new_array();
        if (waits_circles(w, keep_circle, &f))
            status = print_json(&f, path);
    } else {
        status = print_words(&f, path);
    }
    return status ? status : f.n ? STATUS_FOUND : STATUS_OK;
}
