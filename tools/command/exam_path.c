/* Steps of the exam: which znodes are there, and their quotas. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "exam.h"

#define QUOTA_ADVICE                                                           \
    "leave room: each holder and waiter takes a znode (setquota and delquota " \
    "of zkCli.sh)"

/* Cuts the last part of the base off. */
static void cut_base(struct exam *e)
{
    char *slash = strrchr(e->base, '/');

    slash[slash == e->base] = '\0';
}

static void found(struct exam *e)
{
    if (strlen(e->base) < e->d->chroot) {
        doctor_report(e->d, VERDICT_FAIL, "make it, or correct it in --servers",
                      "the chroot %.*s does not exist", (int)e->d->chroot,
                      e->d->path);
        exam_go(e, EXAM_END);
        return;
    }
    if (strcmp(e->base, e->d->path) != 0)
        doctor_report(e->d, VERDICT_OK, NULL,
                      "%s does not exist yet: %s is checked",
                      exam_shown(e, e->d->path), exam_shown(e, e->base));
    e->quota = strlen(e->base);
    exam_go(e, EXAM_LIMITS);
}

static void on_znode(evzk_value_query *query, int rc, const evzk_value *value,
                     void *arg)
{
    struct exam *e = arg;

    evzk_value_query_free(query);
    e->value = NULL;
    if (rc == EVZK_ERR_NOAUTH) {
        doctor_report(
            e->d, VERDICT_WARN,
            "give credentials with --auth-file, if evzk is to read it",
            "%s may not be read", exam_shown(e, e->base));
        found(e);
    } else if (rc) {
        exam_fail(e, EXAM_END, rc, "reading");
    } else if (value->exists) {
        found(e);
    } else {
        cut_base(e);
        exam_go(e, EXAM_FIND);
    }
}

void exam_find(struct exam *e)
{
    int rc;

    if (strcmp(e->base, "/") == 0) {
        found(e);
        return;
    }
    rc = evzk_value_get(e->connection.session, e->base, NULL, on_znode, e,
                        &e->value);
    if (rc)
        exam_fail(e, EXAM_END, rc, "reading");
}

static void on_limits(evzk_value_query *query, int rc, const evzk_value *value,
                      void *arg)
{
    struct exam *e = arg;
    const char *slash;

    evzk_value_query_free(query);
    e->value = NULL;
    if (!rc && value->exists) {
        snprintf(e->used, sizeof(e->used), "%.*s", (int)value->len,
                 (const char *)value->data);
        exam_go(e, EXAM_USED);
        return;
    }
    if (rc && rc != EVZK_ERR_NOAUTH) {
        exam_fail(e, EXAM_END, rc, "reading quotas");
        return;
    }
    /* Then the quota of the znode above. */
    slash = memrchr(e->base, '/', e->quota);
    e->quota = slash ? (size_t)(slash - e->base) : 0;
    exam_go(e, e->quota ? EXAM_LIMITS : EXAM_ENTER);
}

static int read_quota(struct exam *e, const char *name, evzk_value_query_cb *cb)
{
    char path[EXAM_PATH_MAX + 64];

    snprintf(path, sizeof(path), "/zookeeper/quota%.*s/%s", (int)e->quota,
             e->base, name);
    return evzk_value_get(e->connection.session, path, NULL, cb, e, &e->value);
}

void exam_limits(struct exam *e)
{
    int rc;

    if (strcmp(e->base, "/") == 0) {
        exam_go(e, EXAM_ENTER);
        return;
    }
    rc = read_quota(e, "zookeeper_limits", on_limits);
    if (rc)
        exam_fail(e, EXAM_END, rc, "reading quotas");
}

static void on_used(evzk_value_query *query, int rc, const evzk_value *value,
                    void *arg)
{
    struct exam *e = arg;
    bool known = !rc && value->exists;

    evzk_value_query_free(query);
    e->value = NULL;
    doctor_report(e->d, VERDICT_WARN, QUOTA_ADVICE,
                  "%.*s has a quota: %s; used: %.*s", (int)e->quota, e->base,
                  e->used, known ? (int)value->len : 1,
                  known ? (const char *)value->data : "?");
    exam_go(e, EXAM_ENTER); /* The servers keep one quota on a path. */
}

void exam_used(struct exam *e)
{
    int rc = read_quota(e, "zookeeper_stats", on_used);

    if (rc)
        exam_fail(e, EXAM_END, rc, "reading quotas");
}
