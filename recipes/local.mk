libevzkcore_la_SOURCES += \
    recipes/kinds.c recipes/kinds.h \
    recipes/lock.c \
    recipes/lock_query.c
