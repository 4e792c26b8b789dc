/* Words about a contender. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender.h"

/* The data of a contender may be any bytes. */
static void print_bytes(char out[IDENTITY_MAX], const unsigned char *data,
                        size_t len)
{
    size_t at = 0;

    for (size_t i = 0; i < len && at + 8 < IDENTITY_MAX; i++) {
        if (data[i] >= ' ' && data[i] < 0x7f)
            out[at++] = (char)data[i];
        else
            at += (size_t)sprintf(out + at, "\\x%02x", data[i]);
    }
    out[at] = '\0';
}

/* Splits "host:pid".  Other data stays whole. */
static void split(struct identity *who)
{
    const char *colon = strrchr(who->text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

    strcpy(who->host, who->text);
    if (!digits || colon[1 + digits] || digits >= sizeof(who->pid) ||
        colon == who->text)
        return;
    strcpy(who->pid, colon + 1);
    who->host[colon - who->text] = '\0';
}

void identity_read(struct identity *out, const void *data, size_t len)
{
    *out = (struct identity){.hidden = !data};
    if (!data)
        return;
    out->asked = len == 6 && memcmp(data, "unlock", 6) == 0;
    print_bytes(out->text, data, len);
    split(out);
}

const char *identity_text(const struct identity *who)
{
    if (who->hidden)
        return "(hidden)";
    if (who->asked)
        return "(asked to let go)";
    return who->text[0] ? who->text : "(no data)";
}

void identity_json(struct json_object *to, const struct identity *who)
{
    if (who->asked)
        json_object_object_add(to, "asked", json_object_new_boolean(true));
    if (who->hidden) {
        json_object_object_add(to, "hidden", json_object_new_boolean(true));
        return;
    }
    json_object_object_add(to, "data", json_object_new_string(who->text));
    if (!who->pid[0])
        return;
    json_object_object_add(to, "host", json_object_new_string(who->host));
    json_object_object_add(to, "pid", json_object_new_int64(atoll(who->pid)));
}

bool name_is_kazoo_lease(const char *name)
{
    return strlen(name) == 32 && strspn(name, "0123456789abcdef") == 32;
}

bool contender_is_lease(const evzk_contender *c)
{
    return strstr(c->node, "-lease-") || name_is_kazoo_lease(c->node);
}

const char *contender_mode(const evzk_contender *c)
{
    static const char *const modes[] = {"exclusive", "write", "read"};

    if (contender_is_lease(c))
        return "lease";
    if (strstr(c->node, "-n_") || strstr(c->node, "-latch-"))
        return "candidate";
    return modes[c->mode];
}

void session_text(char out[SESSION_MAX], int64_t session)
{
    snprintf(out, SESSION_MAX, "0x%" PRIx64, (uint64_t)session);
}

void age_text(char out[AGE_MAX], int64_t ms)
{
    long long s = ms / 1000;

    if (s < 60)
        snprintf(out, AGE_MAX, "%lld s", s);
    else if (s < 3600)
        snprintf(out, AGE_MAX, "%lld min %lld s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(out, AGE_MAX, "%lld h %lld min", s / 3600, s % 3600 / 60);
    else
        snprintf(out, AGE_MAX, "%lld d %lld h", s / 86400, s % 86400 / 3600);
}
