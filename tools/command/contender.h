/* Words about a contender, for tables, JSON and messages. */
#ifndef EVZK_COMMAND_CONTENDER_H
#define EVZK_COMMAND_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evzk/evzk.h>
#include <json-c/json.h>

#define IDENTITY_MAX 256
#define SESSION_MAX 20
#define AGE_MAX 24

/* The process behind a contender, from the data of its znode. */
struct identity {
    bool hidden; /* The data may not be read. */
    bool asked;  /* The data is "unlock": the contender was asked to let go. */
    /* The data, as printable text.  Bytes that are none become "\xNN". */
    char text[IDENTITY_MAX];
    /* Of data "host:pid"; else the whole text, and "". */
    char host[IDENTITY_MAX], pid[12];
};

/* Reads the data of a znode; NULL for a hidden znode. */
void identity_read(struct identity *out, const void *data, size_t len);

/* The text for a message: data, or what is known instead. */
const char *identity_text(const struct identity *who);

/* Adds what is known to an object of JSON. */
void identity_json(struct json_object *to, const struct identity *who);

/* "exclusive", "write", "read", "candidate", "lease". */
const char *contender_mode(const evzk_contender *c);

/* Can it be the lease of a semaphore of Kazoo, a GUID alone? */
bool name_is_kazoo_lease(const char *name);

/* Is the znode a lease of a semaphore? */
bool contender_is_lease(const evzk_contender *c);

/* "0x10000abcdef0001". */
void session_text(char out[SESSION_MAX], int64_t session);

/* "12 s", "3 min 5 s", "2 h 3 min", "4 d 1 h". */
void age_text(char out[AGE_MAX], int64_t ms);

#endif
