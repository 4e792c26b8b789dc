/* Credentials of a handle.  They are queued in front of all that is not sent
 * yet, at once when connected, and again whenever it connects; nothing sends
 * the queue before the next request does, or the loop says that it may. */
#include <string.h>

#include "world.h"
#include "zoo.h"

void zoo__auth_send(zhandle_t *zh, const struct zoo__auth *a)
{
    struct wire_msg *m = wire_msg_new(ZOO_SETAUTH_OP, ZOO__AUTH_XID);

    m->scheme = sim_strdup(SIM_OUTSIDE, a->scheme);
    m->data = sim_memdup(SIM_OUTSIDE, a->cert, (size_t)a->len);
    m->len = a->len;
    zoo__put(zh, m, true);
}

void zoo__auth_told(zhandle_t *zh, int rc)
{
    for (struct zoo__auth *a = zh->auths; a; a = a->next) {
        void_completion_t done = a->done;

        a->done = NULL;
        if (done)
            done(rc, a->data);
    }
}

void zoo__auth_free(zhandle_t *zh)
{
    struct zoo__auth *a;

    while ((a = zh->auths) != NULL) {
        zh->auths = a->next;
        sim_mfree(a);
    }
}

static void append(zhandle_t *zh, struct zoo__auth *a)
{
    struct zoo__auth **p = &zh->auths;

    while (*p)
        p = &(*p)->next;
    *p = a;
}

int zoo_add_auth(zhandle_t *zh, const char *scheme, const char *cert,
                 int certLen, void_completion_t completion, const void *data)
{
    size_t n, len = cert && certLen > 0 ? (size_t)certLen : 0;
    struct zoo__auth *a;

    if (!scheme || !zh)
        return ZBADARGUMENTS;
    if (zh->state <= 0)
        return ZINVALIDSTATE; /* Also in state 0: after a loss. */
    n = strlen(scheme) + 1;
    a = sim_malloc(sizeof *a + n + len);
    if (!a)
        return ZSYSTEMERROR;
    memset(a, 0, sizeof *a);
    a->done = completion;
    a->data = data;
    a->len = (int)len;
    memcpy(a->scheme, scheme, n);
    a->cert = a->scheme + n;
    if (len)
        memcpy(a->cert, cert, len);
    append(zh, a);
    if (zoo__connected(zh) || zh->state == ZOO_ASSOCIATING_STATE)
        zoo__auth_send(zh, a);
    return ZOK;
}
