libevzkcore_la_SOURCES += \
    recipes/kinds.c recipes/kinds.h \
    recipes/lock.c recipes/lock_own.h recipes/lock_states.h \
    recipes/lock_calls.c \
    recipes/lock_held.c \
    recipes/lock_place.c \
    recipes/lock_query.c \
    recipes/lock_revoke.c recipes/lock_revoke.h \
    recipes/lock_room.c \
    recipes/lock_wait.c
