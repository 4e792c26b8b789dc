libevzkcore_la_SOURCES += \
    recipes/election/announce.c \
    recipes/election/election.c \
    recipes/election/observer.c \
    recipes/kinds.c recipes/kinds.h \
    recipes/lock/calls.c \
    recipes/lock/common.c \
    recipes/lock/downgrade.c \
    recipes/lock/enter.c \
    recipes/lock/held.c \
    recipes/lock/leave.c \
    recipes/lock/lock.c \
    recipes/lock/lock_internal.h \
    recipes/lock/own_node.c \
    recipes/lock/patient.c \
    recipes/lock/place.c \
    recipes/lock/priority.c \
    recipes/lock/query.c \
    recipes/lock/revoke.c recipes/lock/revoke.h \
    recipes/lock/states.h \
    recipes/lock/wait.c \
    recipes/parts/follow.c recipes/parts/follow.h \
    recipes/parts/write_once.c recipes/parts/write_once.h \
    recipes/shards/calls.c \
    recipes/shards/common.c \
    recipes/shards/end.c \
    recipes/shards/handover.c \
    recipes/shards/member.c \
    recipes/shards/mend.c \
    recipes/shards/plan.c recipes/shards/plan.h \
    recipes/shards/planner.c recipes/shards/planner.h \
    recipes/shards/shard.c \
    recipes/shards/shards_internal.h \
    recipes/shards/step.c \
    recipes/shards/trouble.c
