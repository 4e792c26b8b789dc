/**
 * @file evzk/error.h
 * Every error the library reports, as a negative int, with its name, its text
 * and its class.
 */
#ifndef EVZK_ERROR_H
#define EVZK_ERROR_H

#include <evzk/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a program should do about an error. */
typedef enum evzk_error_class {
    EVZK_CLASS_NONE,      /**< No error. */
    EVZK_CLASS_USAGE,     /**< The call was wrong: mend the program. */
    EVZK_CLASS_OUTCOME,   /**< A normal end of the operation. */
    EVZK_CLASS_SESSION,   /**< The session ended, or cannot be made. */
    EVZK_CLASS_SERVER,    /**< The server refused: mend the deployment. */
    EVZK_CLASS_RETRYABLE, /**< Try again later. */
    EVZK_CLASS_INTERNAL   /**< A defect of the library: please report. */
} evzk_error_class;

/* X(name, value, class, text) */
/* clang-format off */
#define EVZK_ERRORS(X) \
    X(OK,           0, NONE,      "success") \
    X(INVAL,       -1, USAGE,     "invalid argument") \
    X(STATE,       -2, USAGE,     "not possible in this state") \
    X(FORKED,      -3, USAGE,     "the session belongs to the parent process") \
    X(UPGRADE,     -4, USAGE,     "a read lock cannot become a write lock") \
    X(CANCELED,   -10, OUTCOME,   "canceled by the caller") \
    X(TIMEOUT,    -11, OUTCOME,   "the time-out passed") \
    X(BUSY,       -12, OUTCOME,   "held by another, and not to be waited for") \
    X(NODEGONE,   -13, OUTCOME,   "the znode was deleted by another") \
    X(FOREIGN,    -14, OUTCOME,   "another library's contender is in this directory") \
    X(CLOSED,     -20, SESSION,   "the session is closed") \
    X(EXPIRED,    -21, SESSION,   "the session expired") \
    X(LEASE,      -22, SESSION,   "the lease ended without word from the leader") \
    X(AUTH,       -23, SESSION,   "the server refused the credentials") \
    X(NOCHROOT,   -30, SERVER,    "the session's chroot does not exist") \
    X(NONODE,     -31, SERVER,    "no such znode") \
    X(NODEEXISTS, -32, SERVER,    "the znode exists") \
    X(NOTEMPTY,   -33, SERVER,    "the znode has children") \
    X(BADVERSION, -34, SERVER,    "the znode has another version") \
    X(NOAUTH,     -35, SERVER,    "the znode's ACL denies this") \
    X(BADACL,     -36, SERVER,    "the server refused the ACL") \
    X(SEQUENCE,   -37, SERVER,    "the directory's sequence numbers are used up") \
    X(EPHEMERAL,  -38, SERVER,    "an ephemeral znode cannot have children") \
    X(UNSUPPORTED,-39, SERVER,    "the server does not know this request") \
    X(SERVER,     -40, SERVER,    "the server answered with an unknown error") \
    X(QUOTA,      -41, SERVER,    "a quota on the znode, or above it, is used up") \
    X(BADDATA,    -42, SERVER,    "the znode's data does not fit the request") \
    X(TOOLARGE,   -43, SERVER,    "the servers hang up at this request, each time: it may be larger than they take (jute.maxbuffer)") \
    X(NOMEM,      -50, RETRYABLE, "out of memory") \
    X(CONNLOSS,   -51, RETRYABLE, "connection lost: the outcome is unknown") \
    X(RESOLVE,    -52, RETRYABLE, "no server name could be resolved") \
    X(INTERNAL,   -60, INTERNAL,  "internal error")
/* clang-format on */

#define EVZK__ENUM(name, value, class, text) EVZK_ERR_##name = (value),
enum { EVZK_ERRORS(EVZK__ENUM) EVZK_OK = 0 };
#undef EVZK__ENUM

/** The text of an error, as in "the session expired". Static, never NULL. */
EVZK_API const char *evzk_strerror(int rc);

/** The name of an error, as in "EVZK_ERR_EXPIRED". Static, never NULL. */
EVZK_API const char *evzk_errname(int rc);

/** The class of an error; EVZK_CLASS_INTERNAL for an unknown value. */
EVZK_API evzk_error_class evzk_errclass(int rc);

#ifdef __cplusplus
}
#endif

#endif
