/* The steps of a request, between the files that send them: step_path.c,
 * step_commit.c above it, and step.c above both. */
#ifndef EVZK_STEP_INTERNAL_H
#define EVZK_STEP_INTERNAL_H

#include "lib/base/name.h"
#include "lib/request/request.h"
#include "lib/request/step.h"

/* One step may be asked for each of many names. */
static inline const struct evzk__step *
evzk__step_at(const struct evzk__request *r, uint32_t i)
{
    return r->for_each_name ? &r->steps[0] : &r->steps[i];
}

/* Any version will do, unless the step asks for one. */
static inline int64_t evzk__step_version(const struct evzk__step *step)
{
    return step->versioned ? step->version : EVZK__ANY_VERSION;
}

/* Completes the name of a znode that was made, with its number. */
static inline void evzk__step_note_made(const struct evzk__step *step,
                                        const char *path)
{
    if (step->made)
        evzk__name_complete(step->made, path);
}

/* step_path.c.  The name as the recipe gives it: "" is the machine's directory.
 * For the path see evzk__steps_path(); this one is valid until the next. */
const char *evzk__steps_name_at(const struct evzk__request *r, uint32_t i);
const char *evzk__steps_path_at(struct evzk__core *s,
                                const struct evzk__request *r, uint32_t i);

/* step_commit.c */
int evzk__steps_send_commit(struct evzk__core *s, struct evzk__request *r,
                            struct evzk__slot *slot);
void evzk__steps_note_commit(const struct evzk__request *r,
                             const struct evzk__result *res);

#endif
