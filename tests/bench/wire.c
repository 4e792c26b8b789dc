/*
 * What the C client says and hears.  It calls send() and recv(): these come
 * first, count, and pass the call on.  Other sockets of the process do not use
 * them while a run is measured.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "bench.h"

static int64_t bytes, trips;
static bool heard = true;
static int last = -1;

ssize_t send(int fd, const void *buf, size_t len, int flags)
{
    static ssize_t (*next)(int, const void *, size_t, int);
    ssize_t n;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "send");
    n = next(fd, buf, len, flags);
    if (n > 0) {
        last = fd;
        bytes += n;
        trips += heard;
        heard = false;
    }
    return n;
}

ssize_t recv(int fd, void *buf, size_t len, int flags)
{
    static ssize_t (*next)(int, void *, size_t, int);
    ssize_t n;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "recv");
    n = next(fd, buf, len, flags);
    if (n > 0) {
        bytes += n;
        heard = true;
    }
    return n;
}

int64_t wire_bytes(void) { return bytes; }

int64_t wire_trips(void) { return trips; }

void wire_cut(void) { shutdown(last, SHUT_RDWR); }
