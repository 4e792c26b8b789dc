/* Access control lists, copied from the application. */
#ifndef EVZK_ACL_H
#define EVZK_ACL_H

#include <stdint.h>

#include "evzk/session.h"

struct evzk__acl {
    evzk_acl *v; /* Owned, strings included; NULL: the world may do all. */
    uint32_t n;
};

/* The rule that an application's list breaks; NULL: the list is valid. */
const char *evzk__acl_fault(const evzk_acl *v, size_t n);

/* Copies a list.  EVZK_ERR_INVAL for an invalid list, EVZK_ERR_NOMEM; `out` is
 * empty then. */
int evzk__acl_copy(struct evzk__acl *out, const evzk_acl *v, size_t n);
bool evzk__acl_equal(const evzk_acl *a, size_t na, const evzk_acl *b,
                     size_t nb);
void evzk__acl_free(struct evzk__acl *acl);

#endif
