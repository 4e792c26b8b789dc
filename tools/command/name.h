/* What the actions of "evzk name" have in common. */
#ifndef EVZK_COMMAND_NAME_H
#define EVZK_COMMAND_NAME_H

#include "action.h"

#define NAME_UNSET UINT32_MAX

struct name_options {
    uint32_t weight, wait_ms, block;
    const char *data;
};
extern struct name_options name_options;

/* The actions. */
int name_register(const struct arguments *arguments);
int name_resolve(const struct arguments *arguments);
int name_list(const struct arguments *arguments);
int name_follow(const struct arguments *arguments);
int name_id(const struct arguments *arguments);

#endif
