/* The C client's constants and names of errors: those of 3.8.0. */
#include <stddef.h>
#include <zookeeper/zookeeper.h>

const int ZOOKEEPER_WRITE = 1;
const int ZOOKEEPER_READ = 2;

const int ZOO_PERSISTENT = 0;
const int ZOO_EPHEMERAL = 1;
const int ZOO_PERSISTENT_SEQUENTIAL = 2;
const int ZOO_EPHEMERAL_SEQUENTIAL = 3;
const int ZOO_CONTAINER = 4;
const int ZOO_PERSISTENT_WITH_TTL = 5;
const int ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL = 6;
const int ZOO_SEQUENCE = 2;

const int ZOO_EXPIRED_SESSION_STATE = -112;
const int ZOO_AUTH_FAILED_STATE = -113;
const int ZOO_CONNECTING_STATE = 1;
const int ZOO_ASSOCIATING_STATE = 2;
const int ZOO_CONNECTED_STATE = 3;
const int ZOO_READONLY_STATE = 5;
const int ZOO_NOTCONNECTED_STATE = 999;

const int ZOO_CREATED_EVENT = 1;
const int ZOO_DELETED_EVENT = 2;
const int ZOO_CHANGED_EVENT = 3;
const int ZOO_CHILD_EVENT = 4;
const int ZOO_SESSION_EVENT = -1;
const int ZOO_NOTWATCHING_EVENT = -2;

const int ZOO_PERM_READ = 1;
const int ZOO_PERM_WRITE = 2;
const int ZOO_PERM_CREATE = 4;
const int ZOO_PERM_DELETE = 8;
const int ZOO_PERM_ADMIN = 16;
const int ZOO_PERM_ALL = 31;

struct Id ZOO_ANYONE_ID_UNSAFE = {"world", "anyone"};
struct Id ZOO_AUTH_IDS = {"auth", ""};
static struct ACL open_acl[] = {{31, {"world", "anyone"}}};
static struct ACL read_acl[] = {{1, {"world", "anyone"}}};
static struct ACL creator_acl[] = {{31, {"auth", ""}}};
struct ACL_vector ZOO_OPEN_ACL_UNSAFE = {1, open_acl};
struct ACL_vector ZOO_READ_ACL_UNSAFE = {1, read_acl};
struct ACL_vector ZOO_CREATOR_ALL_ACL = {1, creator_acl};

static const struct {
    int rc;
    const char *text;
} names[] = {
    {ZOK, "ok"},
    {ZSYSTEMERROR, "system error"},
    {ZRUNTIMEINCONSISTENCY, "run time inconsistency"},
    {ZDATAINCONSISTENCY, "data inconsistency"},
    {ZCONNECTIONLOSS, "connection loss"},
    {ZMARSHALLINGERROR, "marshalling error"},
    {ZUNIMPLEMENTED, "unimplemented"},
    {ZOPERATIONTIMEOUT, "operation timeout"},
    {ZBADARGUMENTS, "bad arguments"},
    {ZINVALIDSTATE, "invalid zhandle state"},
    {ZAPIERROR, "api error"},
    {ZNONODE, "no node"},
    {ZNOAUTH, "not authenticated"},
    {ZBADVERSION, "bad version"},
    {ZNOCHILDRENFOREPHEMERALS, "no children for ephemerals"},
    {ZNODEEXISTS, "node exists"},
    {ZNOTEMPTY, "not empty"},
    {ZSESSIONEXPIRED, "session expired"},
    {ZINVALIDCALLBACK, "invalid callback"},
    {ZINVALIDACL, "invalid acl"},
    {ZAUTHFAILED, "authentication failed"},
    {ZCLOSING, "zookeeper is closing"},
    {ZNOTHING, "(not error) no server responses to process"},
    {ZSESSIONMOVED, "session moved to another server, so operation is ignored"},
    {ZNOWATCHER, "the watcher couldn't be found"},
};

const char *zerror(int c)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].rc == c)
            return names[i].text;
    }
    return "unknown error";
}
