/* Registers an endpoint: joins a group, with the endpoint as its data.
 *
 * How it can fail: as any member, see group/member.c.  The text is written
 * once, into a block of its own, which the member copies. */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/group/group_internal.h"
#include "recipes/names/names_internal.h"

/* The text of an endpoint that breaks no rule; owned by the caller.  NULL: no
 * memory. */
static char *text_of(const evzk_endpoint *e, size_t *len)
{
    char *text;

    *len = evzk_endpoint_print(e, NULL, 0);
    text = evzk__zalloc(*len + 1);
    if (text)
        evzk_endpoint_print(e, text, *len + 1);
    return text;
}

/* "host:port", as the text begins. */
static void name_after(const evzk_endpoint *e, char *name)
{
    evzk_endpoint bare = *e;

    bare.data_len = 0;
    evzk_endpoint_print(&bare, name, EVZK__ENDPOINT_HEAD_MAX + 1);
    *strchr(name, ' ') = '\0';
}

static int join(const struct evzk__call *call, evzk_session *s,
                const char *service, const char *name, const evzk_endpoint *e,
                const evzk_names_options *opt, evzk_member_cb *cb, void *arg,
                evzk_member **out)
{
    evzk_member_options as_member = {
        .no_wait = opt->no_wait, .acl = opt->acl, .acl_count = opt->acl_count};
    char *text = text_of(e, &as_member.data_len);
    int rc;

    if (!text)
        return EVZK_ERR_NOMEM;
    as_member.data = text;
    memcpy(as_member.reserved, opt->reserved, sizeof opt->reserved);
    rc = evzk__group_join(call, s, service, name, &as_member, cb, arg, out);
    evzk__free(text);
    return rc;
}

int evzk_names_register(evzk_session *s, const char *service, const char *name,
                        const evzk_endpoint *e, const evzk_names_options *opt,
                        evzk_member_cb *cb, void *arg, evzk_member **out)
{
    static const evzk_names_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    const char *rule = evzk__endpoint_fault(e);
    char own_name[EVZK__ENDPOINT_HEAD_MAX + 1];

    if (evzk__broken(&call, !rule, "endpoint", rule))
        return EVZK_ERR_INVAL;
    if (!name) {
        name_after(e, own_name);
        name = own_name;
    }
    return join(&call, s, service, name, e, opt ? opt : &none, cb, arg, out);
}

int evzk_names_update(evzk_member *member, const evzk_endpoint *e)
{
    struct evzk__call call = evzk__call_of(
        member ? evzk__machine_session(&member->m) : NULL, __func__);
    const char *rule = evzk__endpoint_fault(e);
    size_t len;
    char *text;
    int rc;

    if (evzk__broken(&call, member, "member", EVZK__NOT_NULL) ||
        evzk__broken(&call, !rule, "endpoint", rule))
        return EVZK_ERR_INVAL;
    text = text_of(e, &len);
    if (!text)
        return EVZK_ERR_NOMEM;
    rc = evzk_member_update(member, text, len);
    evzk__free(text);
    return rc;
}
