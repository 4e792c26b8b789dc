/* What requests and answers are in the C client's words, and in ours.
 *
 * How it can fail: a server has an error that this file does not know.  Then it
 * is EVZK_ERR_SERVER.
 */
#include "lib/client/handle.h"

/* Servers since 3.7 answer with this; the client's header has no name for it.
 */
enum { QUOTA_EXCEEDED = -125 };

int evzk__client_error(int zrc)
{
    switch (zrc) {
    case ZOK:
        return EVZK_OK;
    case ZNONODE:
    case ZNOWATCHER: /* The watch has just fired. */
        return EVZK_ERR_NONODE;
    case ZNODEEXISTS:
        return EVZK_ERR_NODEEXISTS;
    case ZNOTEMPTY:
        return EVZK_ERR_NOTEMPTY;
    case ZBADVERSION:
        return EVZK_ERR_BADVERSION;
    case ZNOAUTH:
        return EVZK_ERR_NOAUTH;
    case ZINVALIDACL:
        return EVZK_ERR_BADACL;
    case ZNOCHILDRENFOREPHEMERALS:
        return EVZK_ERR_EPHEMERAL;
    case ZUNIMPLEMENTED:
        return EVZK_ERR_UNSUPPORTED;
    case QUOTA_EXCEEDED:
        return EVZK_ERR_QUOTA;
    case ZBADARGUMENTS:
        return EVZK_ERR_INVAL;
    case ZMARSHALLINGERROR:
    case ZSYSTEMERROR:
        return EVZK_ERR_NOMEM;
    case ZRUNTIMEINCONSISTENCY: /* Out of order after a silent loss. */
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZINVALIDSTATE:
    case ZCLOSING:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZAUTHFAILED:
        return EVZK_ERR_CONNLOSS;
    }
    return EVZK_ERR_SERVER;
}

/* The client's codes for its own want of memory, in an answer, mean the
 * server's. */
int evzk__client_answer(int zrc)
{
    return zrc == ZMARSHALLINGERROR || zrc == ZSYSTEMERROR
               ? EVZK_ERR_SERVER
               : evzk__client_error(zrc);
}

void evzk__client_set_stat(struct evzk__result *res, const struct Stat *stat)
{
    if (stat) {
        res->stat.czxid = stat->czxid;
        res->stat.mzxid = stat->mzxid;
        res->stat.pzxid = stat->pzxid;
        res->stat.owner = stat->ephemeralOwner;
        res->stat.ctime_ms = stat->ctime;
        res->stat.mtime_ms = stat->mtime;
        res->stat.version = stat->version;
        res->stat.cversion = stat->cversion;
        res->stat.children = stat->numChildren;
        res->stat.data_len = stat->dataLength;
    }
}

struct ACL_vector evzk__client_acl(const evzk_acl *acl, size_t n,
                                   struct ACL entries[])
{
    struct ACL_vector v = {(int32_t)n, entries};

    if (n == 0)
        return ZOO_OPEN_ACL_UNSAFE;
    for (size_t i = 0; i < n; i++) {
        entries[i].perms = (int32_t)acl[i].perms;
        /* Not written to: the client's structs lack the const. */
        entries[i].id.scheme = (char *)(uintptr_t)acl[i].scheme;
        entries[i].id.id = (char *)(uintptr_t)acl[i].id;
    }
    return v;
}

int evzk__client_mode(enum evzk__mode mode)
{
    switch (mode) {
    case EVZK__PERSISTENT:
        return ZOO_PERSISTENT;
    case EVZK__EPHEMERAL:
        return ZOO_EPHEMERAL;
    case EVZK__PERSISTENT_SEQUENTIAL:
        return ZOO_PERSISTENT_SEQUENTIAL;
    case EVZK__EPHEMERAL_SEQUENTIAL:
        return ZOO_EPHEMERAL_SEQUENTIAL;
    case EVZK__CONTAINER:
        return ZOO_CONTAINER;
    }
    return ZOO_PERSISTENT;
}
