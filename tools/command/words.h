/* Asks servers what they say of themselves: the "four-letter words" of
 * ZooKeeper, each over a TCP connection of its own, all at the same time. */
#ifndef EVZK_COMMAND_WORDS_H
#define EVZK_COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum word { WORD_SRVR, WORD_MNTR, WORD_RUOK, WORD_CONF, WORDS };

/* A server, and what it said. */
struct server {
    char *name; /* "host:port", as given. */
    char *host; /* Without brackets. */
    int port;
    char *said[WORDS];  /* Whole answers; NULL: none. */
    char *error[WORDS]; /* Why there is none; NULL: there is one. */
};

struct servers {
    struct server *v;
    size_t n;
};

/* Reads the list of the settings, "host:port,...[/chroot]": 0, or an exit
 * status with a message. */
int servers_read(struct servers *s);

/* Asks all servers for the words up to `last`, and waits for the answers, no
 * longer than --connect-timeout.  0, or an exit status with a message; a server
 * that does not answer is no error. */
int servers_ask(struct servers *s, enum word last);

void servers_free(struct servers *s);

/* Why the server said nothing to any word; NULL: it said something. */
const char *server_error(const struct server *s);

/* Did the server refuse the word, since it is not in its whitelist? */
bool server_refuses(const struct server *s, enum word word);

/* Is it a server that cannot serve now, as it sees no majority? */
bool server_waits(const struct server *s);

/* The first line of what it said to `srvr`, for a message: a static text. */
const char *server_said(const struct server *s);

/* The value behind a key at the beginning of a line: "Mode: leader",
 * "zk_watch_count\t5", "tickTime=2000".  False: there is none. */
bool server_value(const struct server *s, enum word word, const char *key,
                  char *out, size_t size);

/* The same, as a number. */
bool server_number(const struct server *s, enum word word, const char *key,
                   int64_t *out);

/* "3.8.0", and its numbers; false: the server did not tell. */
bool server_version(const struct server *s, char *out, size_t size, int v[3]);

#endif
