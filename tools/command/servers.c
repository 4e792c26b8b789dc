/* The list of servers, and what is read from their answers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "contender.h"
#include "words.h"

/* "host:port", or "[address]:port". */
static int read_one(struct server *s, const char *text)
{
    const char *colon = strrchr(text, ':');
    char *end;
    size_t len;

    s->name = strdup(text);
    s->port = colon ? (int)strtol(colon + 1, &end, 10) : 0;
    if (!colon || colon == text || *end || s->port < 1 || s->port > 65535)
        return complain_usage("'%s' is no server: wanted HOST:PORT, as in "
                              "localhost:2181",
                              text);
    len = (size_t)(colon - text);
    if (text[0] == '[' && colon[-1] == ']')
        s->host = strndup(text + 1, len - 2);
    else
        s->host = strndup(text, len);
    return 0;
}

int servers_read(struct servers *s)
{
    char *list = strdup(settings.servers), *rest = list, *text;
    int status = 0;

    if (list)
        list[strcspn(list, "/")] = '\0';
    while (!status && (text = strsep(&rest, ","))) {
        struct server *more = realloc(s->v, (s->n + 1) * sizeof(*s->v));

        if (!more)
            break;
        s->v = more;
        s->v[s->n] = (struct server){0};
        status = read_one(&s->v[s->n++], text);
    }
    free(list);
    return status;
}

void servers_free(struct servers *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].name);
        free(s->v[i].host);
        for (int word = 0; word < WORDS; word++) {
            free(s->v[i].said[word]);
            free(s->v[i].error[word]);
        }
    }
    free(s->v);
}

const char *server_error(const struct server *s)
{
    for (int word = 0; word < WORDS; word++) {
        if (s->said[word])
            return NULL;
    }
    return s->error[WORD_SRVR];
}

bool server_refuses(const struct server *s, enum word word)
{
    return s->said[word] && strstr(s->said[word], "is not executed because");
}

bool server_waits(const struct server *s)
{
    return s->said[WORD_SRVR] &&
           strstr(s->said[WORD_SRVR], "not currently serving requests");
}

const char *server_said(const struct server *s)
{
    static char text[IDENTITY_MAX];
    struct identity line;
    const char *said = s->said[WORD_SRVR] ? s->said[WORD_SRVR] : "";

    identity_read(&line, said, strcspn(said, "\r\n"));
    memcpy(text, line.text, sizeof(text));
    return text;
}

/* Anything may answer at that port. */
static void make_printable(char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text >= 0x7f)
            *text = '?';
    }
}

bool server_value(const struct server *s, enum word word, const char *key,
                  char *out, size_t size)
{
    size_t len = strlen(key);
    const char *line = s->said[word];

    while (line) {
        if (strncmp(line, key, len) == 0 && strchr(":=\t", line[len])) {
            line += len;
            line += strspn(line, ":=\t ");
            snprintf(out, size, "%.*s", (int)strcspn(line, "\r\n"), line);
            make_printable(out);
            return true;
        }
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return false;
}

bool server_number(const struct server *s, enum word word, const char *key,
                   int64_t *out)
{
    char text[64], *end;

    if (!server_value(s, word, key, text, sizeof(text)))
        return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && errno == 0;
}

/* "3.8.0-5a02a05e..., built on 2022-02-25 08:49 UTC": without the commit. */
bool server_version(const struct server *s, char *out, size_t size, int v[3])
{
    char text[200], *dash;

    if (!server_value(s, WORD_SRVR, "Zookeeper version", text, sizeof(text)))
        return false;
    text[strcspn(text, ",")] = '\0';
    dash = strrchr(text, '-');
    if (dash)
        *dash = '\0';
    snprintf(out, size, "%s", text);
    v[0] = v[1] = v[2] = 0;
    return sscanf(text, "%d.%d.%d", &v[0], &v[1], &v[2]) >= 2;
}
