/* Access control lists. */
#include "lib/base/acl.h"

#include <string.h>

#include "lib/base/mem.h"

static const char *entry_fault(const evzk_acl *e)
{
    if (e->perms == 0 || (e->perms & ~EVZK_PERM_ALL) != 0)
        return "must have perms of EVZK_PERM_* in each entry";
    if (!e->scheme || !e->scheme[0])
        return "must have a scheme in each entry";
    return e->id ? NULL : "must have an id in each entry, \"\" for auth";
}

const char *evzk__acl_fault(const evzk_acl *v, size_t n)
{
    const char *fault = NULL;

    if ((v == NULL) != (n == 0))
        return "must be given with acl_count, or neither";
    if (n > EVZK_ACL_MAX)
        return "must have at most EVZK_ACL_MAX entries";
    for (size_t i = 0; i < n && !fault; i++)
        fault = entry_fault(&v[i]);
    return fault;
}

/* One block of memory: the entries, then their strings. */
int evzk__acl_copy(struct evzk__acl *out, const evzk_acl *v, size_t n)
{
    size_t size = n * sizeof *v;
    char *p;

    out->v = NULL;
    out->n = 0;
    if (evzk__acl_fault(v, n))
        return EVZK_ERR_INVAL;
    if (n == 0)
        return EVZK_OK;
    for (size_t i = 0; i < n; i++)
        size += strlen(v[i].scheme) + strlen(v[i].id) + 2;
    out->v = evzk__zalloc(size);
    if (!out->v)
        return EVZK_ERR_NOMEM;
    out->n = (uint32_t)n;
    p = (char *)(out->v + n);
    for (size_t i = 0; i < n; i++) {
        out->v[i].perms = v[i].perms;
        out->v[i].scheme = strcpy(p, v[i].scheme);
        p += strlen(p) + 1;
        out->v[i].id = strcpy(p, v[i].id);
        p += strlen(p) + 1;
    }
    return EVZK_OK;
}

void evzk__acl_free(struct evzk__acl *acl)
{
    evzk__free(acl->v);
    acl->v = NULL;
}

bool evzk__acl_equal(const evzk_acl *a, size_t na, const evzk_acl *b, size_t nb)
{
    if (na != nb)
        return false;
    for (size_t i = 0; a != b && i < na; i++) {
        if (a[i].perms != b[i].perms || strcmp(a[i].scheme, b[i].scheme) != 0 ||
            strcmp(a[i].id, b[i].id) != 0)
            return false;
    }
    return true;
}
