/* Permissions: lists of permissions, and the identities of connections.
 *
 * Schemes are world, auth, digest and ip; every client comes from 127.0.0.1.
 * A list that gives everything to everybody is NULL, as nearly all are. */
#include "ens_internal.h"

#include <arpa/inet.h>
#include <sha1.h>
#include <stdlib.h>
#include <string.h>

struct ens_blob *ens_blob_new(const void *data, int32_t len)
{
    struct ens_blob *b;

    if (len < 0 || (data == NULL && len > 0))
        return NULL;
    b = sim_alloc(SIM_OUTSIDE, sizeof *b + (size_t)len + 1);
    b->refs = 1;
    b->len = len;
    if (len > 0)
        memcpy(b->bytes, data, (size_t)len);
    return b;
}

struct ens_blob *ens_blob_ref(struct ens_blob *b)
{
    if (b != NULL)
        b->refs++;
    return b;
}

void ens_blob_unref(struct ens_blob *b)
{
    if (b != NULL && --b->refs == 0)
        sim_free(SIM_OUTSIDE, b);
}

struct ens_acl *ens_acl_ref(struct ens_acl *a)
{
    if (a != NULL)
        a->refs++;
    return a;
}

void ens_acl_unref(struct ens_acl *a)
{
    if (a == NULL || --a->refs > 0)
        return;
    for (int32_t i = 0; i < a->v.count; i++) {
        sim_free(SIM_OUTSIDE, a->v.data[i].id.scheme);
        sim_free(SIM_OUTSIDE, a->v.data[i].id.id);
    }
    sim_free(SIM_OUTSIDE, a->v.data);
    sim_free(SIM_OUTSIDE, a);
}

void ens_acl_set(struct ens_acl **to, struct ens_acl *a)
{
    ens_acl_ref(a);
    ens_acl_unref(*to);
    *to = a;
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool is_anyone(const struct Id *id)
{
    return same(id->scheme, "world") && same(id->id, "anyone");
}

/* "a.b.c.d" or "a.b.c.d/bits". */
static bool ip_parse(const char *text, uint32_t *addr, int *bits)
{
    char buf[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
    struct in_addr in;
    char *end;

    *bits = 32;
    if (len >= sizeof buf)
        return false;
    memcpy(buf, text, len);
    buf[len] = '\0';
    if (inet_pton(AF_INET, buf, &in) != 1)
        return false;
    *addr = ntohl(in.s_addr);
    if (slash == NULL)
        return true;
    *bits = (int)strtol(slash + 1, &end, 10);
    return end != slash + 1 && *end == '\0' && *bits >= 0 && *bits <= 32;
}

static bool ip_matches(const char *text)
{
    uint32_t addr, mask;
    int bits;

    if (!ip_parse(text, &addr, &bits))
        return false;
    mask = bits == 0 ? 0 : UINT32_MAX << (32 - bits);
    return ((addr ^ INADDR_LOOPBACK) & mask) == 0;
}

/* Exactly one colon with something behind it, as String.split() sees it. */
static bool digest_valid(const char *id)
{
    const char *colon = strchr(id, ':');

    return colon != NULL && colon[1] != '\0' && strchr(colon + 1, ':') == NULL;
}

static bool id_valid(const struct Id *id)
{
    uint32_t addr;
    int bits;

    if (id->scheme == NULL || id->id == NULL)
        return false;
    if (same(id->scheme, "digest"))
        return digest_valid(id->id);
    return is_anyone(id) ||
           (same(id->scheme, "ip") && ip_parse(id->id, &addr, &bits));
}

static bool has(const struct ens_acl *a, int32_t perms, const struct Id *id)
{
    for (int32_t i = 0; i < a->v.count; i++)
        if (a->v.data[i].perms == perms &&
            same(a->v.data[i].id.scheme, id->scheme) &&
            same(a->v.data[i].id.id, id->id))
            return true;
    return false;
}

static void put(struct ens_acl *a, int32_t perms, const char *scheme,
                const char *id)
{
    struct ACL *to = &a->v.data[a->v.count++];

    to->perms = perms;
    to->id.scheme = sim_strdup(SIM_OUTSIDE, scheme);
    to->id.id = sim_strdup(SIM_OUTSIDE, id);
}

static bool fix_one(struct ens_acl *a, const struct ACL *from,
                    const struct ens_auth *auth)
{
    if (same(from->id.scheme, "auth")) {
        for (int32_t i = 0; auth != NULL && i < auth->n; i++)
            put(a, from->perms, "digest", auth->ids[i]);
        return auth != NULL && auth->n > 0;
    }
    if (!id_valid(&from->id))
        return false;
    if (!has(a, from->perms, &from->id))
        put(a, from->perms, from->id.scheme, from->id.id);
    return true;
}

int ens_acl_fix(const struct ACL_vector *v, const struct ens_auth *auth,
                struct ens_acl **out)
{
    struct ens_acl *a;
    bool ok = v->count > 0;

    *out = NULL;
    if (v->count == 1 && v->data[0].perms == 31 && is_anyone(&v->data[0].id))
        return ZOK;
    a = sim_alloc(SIM_OUTSIDE, sizeof *a);
    a->refs = 1;
    a->v.data = sim_alloc(SIM_OUTSIDE,
                          sizeof *a->v.data * ENS_IDS * (size_t)(v->count + 1));
    for (int32_t i = 0; ok && i < v->count; i++)
        ok = fix_one(a, &v->data[i], auth);
    if (!ok) {
        ens_acl_unref(a);
        return ZINVALIDACL;
    }
    *out = a;
    return ZOK;
}

static bool id_matches(const struct Id *id, const struct ens_auth *auth)
{
    if (is_anyone(id))
        return true;
    if (same(id->scheme, "ip"))
        return ip_matches(id->id);
    if (!same(id->scheme, "digest"))
        return false;
    for (int32_t i = 0; auth != NULL && i < auth->n; i++)
        if (same(id->id, auth->ids[i]))
            return true;
    return false;
}

bool ens_acl_allows(const struct ens_acl *a, int perms,
                    const struct ens_auth *auth)
{
    if (a == NULL || a->v.count == 0)
        return true;
    for (int32_t i = 0; i < a->v.count; i++)
        if ((a->v.data[i].perms & perms) != 0 &&
            id_matches(&a->v.data[i].id, auth))
            return true;
    return false;
}

/* To those who may not change it, a digest is shown as "user:x". */
void ens_acl_tell(struct wire_msg *m, const struct ens_acl *a, bool hide)
{
    static char world[] = "world", anyone[] = "anyone";
    struct ACL open = {31, {world, anyone}};
    struct ACL_vector v = {1, &open};

    wire_msg_acl(m, a != NULL ? &a->v : &v);
    for (int32_t i = 0; hide && i < m->acl.count; i++) {
        struct Id *id = &m->acl.data[i].id;
        char *colon = strchr(id->id, ':');

        if (same(id->scheme, "digest") && colon != NULL && colon[1] != '\0') {
            colon[1] = 'x';
            colon[2] = '\0';
        }
    }
}

struct ens_auth *ens_auth_ref(struct ens_auth *a)
{
    if (a != NULL)
        a->refs++;
    return a;
}

void ens_auth_unref(struct ens_auth *a)
{
    if (a == NULL || --a->refs > 0)
        return;
    for (int32_t i = 0; i < a->n; i++)
        sim_free(SIM_OUTSIDE, a->ids[i]);
    sim_free(SIM_OUTSIDE, a);
}

static void base64(const uint8_t *in, size_t len, char *out)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < len; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16;

        v |= i + 1 < len ? (uint32_t)in[i + 1] << 8 : 0;
        v |= i + 2 < len ? (uint32_t)in[i + 2] : 0;
        *out++ = set[v >> 18];
        *out++ = set[v >> 12 & 63];
        *out++ = i + 1 < len ? set[v >> 6 & 63] : '=';
        *out++ = i + 2 < len ? set[v & 63] : '=';
    }
    *out = '\0';
}

/* "user:password" becomes "user:" and what SHA-1 makes of the whole. */
static char *digest_of(const char *cred, size_t len)
{
    const char *colon = memchr(cred, ':', len);
    size_t user = colon != NULL ? (size_t)(colon - cred) : len;
    uint8_t sum[SHA1_DIGEST_LENGTH];
    char *id = sim_alloc(SIM_OUTSIDE, user + 32);
    SHA1_CTX sha;

    SHA1Init(&sha);
    SHA1Update(&sha, (const uint8_t *)cred, len);
    SHA1Final(sum, &sha);
    memcpy(id, cred, user);
    id[user] = ':';
    base64(sum, sizeof sum, id + user + 1);
    return id;
}

uint32_t ens_java_hash(const char *s)
{
    uint32_t h = 0;

    for (; *s != '\0'; s++)
        h = h * 31 + (uint8_t)*s;
    return h;
}

uint32_t ens_java_bucket(uint32_t hash, uint32_t buckets)
{
    return (hash ^ hash >> 16) & (buckets - 1);
}

static uint32_t bucket_of(const char *id)
{
    uint32_t h = (17 * 37 + ens_java_hash("digest")) * 37 + ens_java_hash(id);

    return ens_java_bucket(h, 16);
}

/* In the order of the server's set of identities, which "auth" shows. */
static void insert(struct ens_auth *a, char *id)
{
    int32_t i = a->n++;

    for (; i > 0 && bucket_of(a->ids[i - 1]) > bucket_of(id); i--)
        a->ids[i] = a->ids[i - 1];
    a->ids[i] = id;
}

/* The lists of requests under way stay as they are: a new one is made. */
bool ens_auth_add(struct ens_auth **a, const struct wire_msg *m)
{
    struct ens_auth *with;
    char *id;

    if (same(m->scheme, "ip"))
        return true;
    if (!same(m->scheme, "digest"))
        return false;
    id = digest_of(m->data != NULL ? m->data : "",
                   m->len > 0 ? (size_t)m->len : 0);
    with = sim_alloc(SIM_OUTSIDE, sizeof *with);
    with->refs = 1;
    for (int32_t i = 0; *a != NULL && i < (*a)->n; i++)
        if (!same((*a)->ids[i], id))
            with->ids[with->n++] = sim_strdup(SIM_OUTSIDE, (*a)->ids[i]);
    if (with->n < ENS_IDS)
        insert(with, id);
    else
        sim_free(SIM_OUTSIDE, id);
    ens_auth_unref(*a);
    *a = with;
    return true;
}
