/* Cuts this process's connections to the servers behind the library's back: its
 * sockets die as if a firewall had reset them. */
#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "demo.h"

static bool is_server_port(const char *servers, unsigned port)
{
    const char *colon = servers;

    while ((colon = strchr(colon, ':')))
        if (strtoul(++colon, NULL, 10) == port)
            return true;
    return false;
}

/* True when fd is a TCP connection to one of the servers. */
static bool is_server_connection(const char *servers, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } peer;
    socklen_t len = sizeof peer;

    if (getpeername(fd, &peer.any, &len))
        return false;
    if (peer.any.sa_family == AF_INET)
        return is_server_port(servers, ntohs(peer.v4.sin_port));
    if (peer.any.sa_family == AF_INET6)
        return is_server_port(servers, ntohs(peer.v6.sin6_port));
    return false;
}

int cut_connections(const char *servers)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    int cut = 0;

    if (!dir)
        return 0;
    while ((entry = readdir(dir))) {
        int fd = atoi(entry->d_name); /* "." and ".." are 0: no match. */

        if (is_server_connection(servers, fd) && !shutdown(fd, SHUT_RDWR))
            cut++;
    }
    closedir(dir);
    return cut;
}
