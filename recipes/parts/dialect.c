/* Names of znodes as other libraries begin them. */
#include "recipes/parts/dialect.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/name.h"

const char *evzk_dialect_name(evzk_dialect dialect)
{
    switch (dialect) {
    case EVZK_DIALECT_EVZK:
        return "evzk";
    case EVZK_DIALECT_CURATOR:
        return "curator";
    case EVZK_DIALECT_KAZOO:
        return "kazoo";
    }
    return "?";
}

bool evzk__broken_dialect(const struct evzk__call *call, evzk_dialect dialect)
{
    return evzk__broken(call, (unsigned)dialect <= EVZK_DIALECT_KAZOO,
                        "dialect", "must be one of EVZK_DIALECT_*");
}

/* Kazoo writes the GUID without dashes. */
static void remove_dashes(char *guid)
{
    char *to = guid;

    for (const char *from = guid; *from; from++) {
        if (*from != '-')
            *to++ = *from;
    }
    *to = '\0';
}

int evzk__dialect_guid(evzk_dialect dialect, char out[EVZK__DIALECT_GUID])
{
    int rc;

    *out = '\0';
    if (dialect == EVZK_DIALECT_CURATOR)
        out = stpcpy(out, "_c_");
    rc = evzk__guid(out);
    if (rc != EVZK_OK)
        *out = '\0';
    else if (dialect == EVZK_DIALECT_KAZOO)
        remove_dashes(out);
    return rc;
}

bool evzk__kazoo_other_number(uint32_t leases, const void *data, size_t len)
{
    const char *text = data, *end;
    uint64_t n = 0;

    if (len == 0)
        return false;
    end = text + len;
    while (text < end && isspace((unsigned char)*text))
        text++;
    while (text < end && isspace((unsigned char)end[-1]))
        end--;
    if (text == end)
        return false;
    for (; text < end; text++) {
        if (!isdigit((unsigned char)*text))
            return false;
        n = n > UINT32_MAX ? n : n * 10 + (uint64_t)(*text - '0');
    }
    return n != leases;
}

enum evzk__dir_use evzk__dialect_dir(evzk_dialect dialect)
{
    switch (dialect) {
    case EVZK_DIALECT_CURATOR:
        return EVZK__DIR_CONTAINER;
    case EVZK_DIALECT_KAZOO:
        return EVZK__DIR_STAYS;
    case EVZK_DIALECT_EVZK:
        break;
    }
    return EVZK__DIR_OURS;
}
