/* What the library does with the C client's socket, without the client's
 * knowledge.  A seam: tests link a simulated network. */
#ifndef EVZK_NET_H
#define EVZK_NET_H

#include <stdbool.h>
#include <stddef.h>

/* Holds small packets back (true), or lets them go (false). */
void evzk__net_cork(int fd, bool on);

/* A second descriptor, ours, for the same socket; -1: no descriptor is free.
 * Both are closed on exec. */
int evzk__net_own(int fd);
void evzk__net_close(int fd);

/* Are @n descriptors free?  Up to EVZK__ROOM_MAX can be asked for. */
enum { EVZK__ROOM_MAX = 8 };
bool evzk__net_room(unsigned n);

enum evzk__net_state { EVZK__NOTHING, EVZK__DATA, EVZK__HUNG_UP };

/* Is there anything to read?  Reads nothing. */
enum evzk__net_state evzk__net_look(int fd);

/* Copies at most `size` bytes of what there is to read, and leaves them in the
 * socket; returns how many.  *ended: the peer sends nothing more. */
size_t evzk__net_peek(int fd, unsigned char *buf, size_t size, bool *ended);

/* From now on the descriptor is ready when so many bytes can be read, or at the
 * end of the stream. */
void evzk__net_ready_at(int fd, size_t bytes);

/* The request that ends a session.  The client's own close would wait for the
 * answer; this one does not. */
struct evzk__farewell {
    unsigned char tail[20]; /* The last bytes that were read. */
};
enum evzk__answer { EVZK__NOT_YET, EVZK__CONFIRMED, EVZK__CUT };

/* Writes the request.  False: the socket did not take all of it. */
bool evzk__net_say_farewell(int fd);

/* Reads the socket, and throws away all but the answer. */
enum evzk__answer evzk__net_await_farewell(int fd, struct evzk__farewell *f);

/* Puts a dead socket in fd's place.  From now on a write to fd fails at once,
 * and nothing reaches the peer.  A parent process that shares the old socket
 * keeps it. */
void evzk__net_deaden(int fd);

/* The same where no parent process shares the socket.  @fd stays open even when
 * no descriptor is free, so no other thread can get its number. */
void evzk__net_cut(int fd);

#endif
