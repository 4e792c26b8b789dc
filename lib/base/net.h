/* What we do to the C client's socket behind its back.  A seam: tests link a
 * simulated one. */
#ifndef EVZK_NET_H
#define EVZK_NET_H

#include <stdbool.h>
#include <stddef.h>

/* Holds small packets back (true), or lets them go (false). */
void evzk__net_cork(int fd, bool on);

/* A descriptor of our own for the same socket; -1: there is none left.  Neither
 * is inherited by a program that this one becomes, or starts. */
int evzk__net_own(int fd);
void evzk__net_close(int fd);

/* Are @n descriptors free?  Up to EVZK__ROOM_MAX can be asked for. */
enum { EVZK__ROOM_MAX = 8 };
bool evzk__net_room(unsigned n);

enum evzk__look { EVZK__NOTHING, EVZK__DATA, EVZK__HUNG_UP };

/* What there is to be read, without reading it. */
enum evzk__look evzk__net_look(int fd);

/* Copies what there is to be read, at most `size` bytes, without reading it;
 * returns how many.  *ended: nothing comes behind them. */
size_t evzk__net_peek(int fd, unsigned char *buf, size_t size, bool *ended);

/* The descriptor is ready when so many bytes can be read, or at the end. */
void evzk__net_ready_at(int fd, size_t bytes);

/* The end of a session, told to the server without waiting for the answer, as
 * the client's own close would. */
struct evzk__farewell {
    unsigned char tail[20]; /* The last bytes that came. */
};
enum evzk__answer { EVZK__NOT_YET, EVZK__CONFIRMED, EVZK__CUT };

/* Writes the request.  False when it could not be written whole. */
bool evzk__net_say_farewell(int fd);

/* Reads, and throws away all but the answer. */
enum evzk__answer evzk__net_await_farewell(int fd, struct evzk__farewell *f);

/* Puts a dead socket in fd's place: from now on whoever writes to fd fails at
 * once, and nothing reaches the peer, nor a parent process that shares it. */
void evzk__net_deaden(int fd);

/* The same where no parent shares the socket.  @fd stays open even when no
 * descriptor is free, so no other thread can be given its number. */
void evzk__net_cut(int fd);

#endif
