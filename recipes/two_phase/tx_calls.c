/* The calls of evzk/two_phase.h on a transaction at its coordinator. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/two_phase/tx_internal.h"

bool evzk__broken_tx_root(const struct evzk__call *call, const evzk_session *s,
                          const char *root)
{
    size_t most = EVZK__PATH_MAX - sizeof EVZK__COORDINATORS - EVZK_TX_ID_LEN -
                  EVZK_TX_SITE_NAME_MAX - 16;

    return evzk__broken(call, root[1], "root", "must not be \"/\"") ||
           evzk__broken(call, evzk__path_bytes(s, root) <= most, "root",
                        "must leave room for the recipe's own names");
}

static bool is_twice(const evzk_tx_options *opt, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(opt->sites[k], opt->sites[i]) == 0)
            return true;
    }
    return false;
}

static bool broken_sites(const struct evzk__call *call,
                         const evzk_tx_options *opt)
{
    if (evzk__broken(call,
                     opt->sites && opt->n_sites > 0 &&
                         opt->n_sites <= EVZK_TX_SITES_MAX,
                     "sites", "must be 1 to EVZK_TX_SITES_MAX"))
        return true;
    for (size_t i = 0; i < opt->n_sites; i++) {
        const char *rule = opt->sites[i] ? evzk__site_name_fault(opt->sites[i])
                                         : EVZK__NOT_NULL;

        if (evzk__broken(call, !rule, "sites", rule) ||
            evzk__broken(call, !is_twice(opt, i), "sites",
                         "must be different ones"))
            return true;
    }
    return false;
}

static bool broken_options(const struct evzk__call *call,
                           const evzk_tx_options *opt)
{
    return evzk__broken(call, (unsigned)opt->variant <= EVZK_TX_PRESENCE,
                        "variant", "must be an evzk_tx_variant") ||
           evzk__broken_data(call, opt->question, opt->question_len,
                             EVZK_TX_DATA_MAX) ||
           evzk__broken_acl(call, opt->acl, opt->acl_count) ||
           evzk__broken_reserved(call, opt->reserved);
}

/* The begin is one transaction: two znodes a site.  All later ones are smaller.
 */
static bool is_too_large(const struct evzk__call *call, const evzk_session *s,
                         const char *root, const evzk_tx_options *opt)
{
    enum { NAMES = 2 * (EVZK_TX_ID_LEN + 32), STEPS = 2 * 64, HEAD = 1024 };
    size_t acl = evzk__acl_bytes(s, opt->acl_count > 0 ? opt->acl : NULL,
                                 opt->acl_count),
           each = NAMES + STEPS + 2 * (evzk__path_bytes(s, root) + acl),
           bytes = HEAD + opt->question_len + opt->n_sites * each;

    for (size_t i = 0; i < opt->n_sites; i++)
        bytes += 3 * strlen(opt->sites[i]); /* Two names, and in the text. */
    return evzk__broken(call, bytes <= EVZK__REQUEST_BYTES, "opt",
                        "asks for a larger transaction than servers take: "
                        "fewer sites, or a shorter path or ACL");
}

static void choose_acl(struct evzk_tx *tx)
{
    struct evzk__create_args a =
        evzk__args_with_acl(&tx->m, NULL, &tx->own_acl);

    tx->acl = a.acl;
    tx->acl_count = a.acl_count;
}

static int init(struct evzk_tx *tx, evzk_session *s, const char *root,
                const char *id, const evzk_tx_options *opt)
{
    char fresh[EVZK__GUID_LEN + 1];
    int rc = EVZK_OK;

    tx->recovers = id != NULL;
    tx->vote_data = opt->vote_data;
    if (!id)
        rc = evzk__guid(fresh);
    if (rc == EVZK_OK && !id)
        rc = evzk__tx_text_make(&tx->text, opt);
    if (rc == EVZK_OK)
        rc = evzk__tx_steps_init(&tx->steps, &tx->text, id ? id : fresh);
    if (rc == EVZK_OK)
        rc = evzk__tx_make_room(tx);
    if (rc == EVZK_OK)
        rc = evzk__acl_copy(&tx->own_acl, opt->acl, opt->acl_count);
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&tx->m, s, &evzk__tx_kind, root,
                                opt->timeout_ms);
    return rc;
}

/* To begin one, or, with an id, to recover one. */
static int start(evzk_session *s, const char *root, const char *id,
                 const evzk_tx_options *opt, evzk_tx_cb *cb, void *arg,
                 evzk_tx **out)
{
    struct evzk_tx *tx;
    int rc = evzk__may_begin(s);

    if (rc != EVZK_OK)
        return rc;
    tx = evzk__zalloc(sizeof *tx);
    if (!tx)
        return EVZK_ERR_NOMEM;
    tx->cb = cb;
    tx->arg = arg;
    if (opt->timeout_ms > 0)
        tx->due_us = evzk__now_us() + (int64_t)opt->timeout_ms * 1000;
    rc = init(tx, s, root, id, opt);
    if (rc != EVZK_OK) {
        evzk__tx_destroy(&tx->m);
        return rc;
    }
    choose_acl(tx);
    *out = tx;
    return EVZK_OK;
}

int evzk_tx_begin(evzk_session *s, const char *root, const evzk_tx_options *opt,
                  evzk_tx_cb *cb, void *arg, evzk_tx **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);

    if (evzk__broken_start(&call, s, root, cb != NULL, out != NULL) ||
        evzk__broken_tx_root(&call, s, root) ||
        evzk__broken(&call, opt, "opt", EVZK__NOT_NULL) ||
        broken_options(&call, opt) || broken_sites(&call, opt) ||
        is_too_large(&call, s, root, opt))
        return EVZK_ERR_INVAL;
    return start(s, root, NULL, opt, cb, arg, out);
}

int evzk_tx_recover(evzk_session *s, const char *root, const char *id,
                    const evzk_tx_options *opt, evzk_tx_cb *cb, void *arg,
                    evzk_tx **out)
{
    static const evzk_tx_options none;
    struct evzk__call call = evzk__call_of(s, __func__);

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, root, cb != NULL, out != NULL) ||
        evzk__broken_tx_root(&call, s, root) ||
        evzk__broken(&call, id && evzk__is_tx_id(id), "id",
                     "must be that of a transaction") ||
        broken_options(&call, opt))
        return EVZK_ERR_INVAL;
    return start(s, root, id, opt, cb, arg, out);
}

int evzk_tx_abort(evzk_tx *tx)
{
    if (!tx)
        return EVZK_ERR_INVAL;
    if (tx->decision != EVZK_TX_NONE && !evzk__machine_in_child(&tx->m))
        return EVZK_ERR_STATE;
    return evzk__machine_cancel(&tx->m);
}

void evzk_tx_free(evzk_tx *tx)
{
    if (tx) {
        tx->cb = NULL;
        evzk__machine_let_go(&tx->m);
    }
}

const char *evzk_tx_id(const evzk_tx *tx)
{
    return tx ? evzk__tx_steps_id(&tx->steps) : "";
}

evzk_tx_verdict evzk_tx_decision(const evzk_tx *tx)
{
    return tx ? tx->decision : EVZK_TX_NONE;
}

int64_t evzk_tx_token(const evzk_tx *tx) { return tx ? tx->token : 0; }

const char *evzk_tx_state(const evzk_tx *tx)
{
    return tx ? evzk__machine_state(&tx->m) : "";
}
