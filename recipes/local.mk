libevzkcore_la_SOURCES += \
    recipes/election.c \
    recipes/follow.c recipes/follow.h \
    recipes/kinds.c recipes/kinds.h \
    recipes/lock.c recipes/lock_own.h recipes/lock_states.h \
    recipes/lock_calls.c \
    recipes/lock_held.c \
    recipes/lock_lead.c \
    recipes/lock_patient.c \
    recipes/lock_place.c \
    recipes/lock_query.c \
    recipes/lock_revoke.c recipes/lock_revoke.h \
    recipes/lock_room.c \
    recipes/lock_verify.c \
    recipes/lock_wait.c \
    recipes/observer.c \
    recipes/once.c recipes/once.h \
    recipes/shards.c recipes/shards_own.h \
    recipes/shards_calls.c \
    recipes/shards_member.c \
    recipes/shards_mend.c \
    recipes/shards_one.c \
    recipes/shards_plan.c recipes/shards_plan.h \
    recipes/shards_planner.c recipes/shards_planner.h \
    recipes/shards_takers.c
