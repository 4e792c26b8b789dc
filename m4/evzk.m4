# evzk.m4: what configure.ac asks, one macro a question.

# EVZK_MISSING(WHAT, DEBIAN-PACKAGE): ends configure, and says what to do.
AC_DEFUN([EVZK_MISSING], [AC_MSG_ERROR([$1 is missing.
  On Debian:  apt-get install $2
  or all that is needed at once:  ./quickstart deps])])

# Adds every warning that the compiler takes to WARN_CFLAGS.
AC_DEFUN([EVZK_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror],
    [make warnings errors (for developers and CI)])], [], [enable_werror=no])
WARN_CFLAGS=
evzk_flags="-Wall -Wextra -Wconversion -Wshadow -Wswitch-enum
    -Wstrict-prototypes -Wmissing-prototypes"
AS_IF([test "x$enable_werror" = xyes], [evzk_flags="$evzk_flags -Werror"])
for evzk_flag in $evzk_flags; do
    AC_MSG_CHECKING([whether $CC takes $evzk_flag])
    evzk_saved=$CFLAGS
    CFLAGS="$CFLAGS -Werror $evzk_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM],
        [WARN_CFLAGS="$WARN_CFLAGS $evzk_flag"; AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])])
    CFLAGS=$evzk_saved
done
AC_SUBST([WARN_CFLAGS])])

AC_DEFUN([EVZK_SANITIZERS], [
AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers@<:@=thread@:>@],
    [build with AddressSanitizer and UndefinedBehaviorSanitizer, or with
     ThreadSanitizer])], [], [enable_sanitizers=no])
AS_CASE([$enable_sanitizers], [no|yes|thread], [],
    [AC_MSG_ERROR([--enable-sanitizers takes "thread", or nothing])])
AS_IF([test "x$enable_sanitizers" != xno], [
    AS_IF([test "x$enable_sanitizers" = xthread],
        [SANITIZER_CFLAGS="-fsanitize=thread"],
        [SANITIZER_CFLAGS="-fsanitize=address,undefined"
         SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fno-sanitize-recover=all"])
    SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fno-omit-frame-pointer"
    AC_MSG_CHECKING([whether $CC links with the sanitizers])
    evzk_saved=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM], [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         EVZK_MISSING([The sanitizers' run time of $CC],
            [libclang-rt-dev (for clang; gcc brings its own)])])
    CFLAGS=$evzk_saved
    AC_DEFINE([WITH_SANITIZERS], [1], [Built with sanitizers.])
    AC_DEFINE([EVZK_DEBUG], [1], [Stop at an internal error.])])
AC_SUBST([SANITIZER_CFLAGS])])

# Has the compiler libFuzzer?  Clang has.
AC_DEFUN([EVZK_FUZZER], [
AC_MSG_CHECKING([whether $CC has a fuzzer])
evzk_saved=$CFLAGS
CFLAGS="$CFLAGS $SANITIZER_CFLAGS -fsanitize=fuzzer,address,undefined"
AC_LINK_IFELSE([AC_LANG_SOURCE([[#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len)
{ return data && len == 0; }]])], [have_fuzzer=yes], [have_fuzzer=no])
CFLAGS=$evzk_saved
AC_MSG_RESULT([$have_fuzzer])
AM_CONDITIONAL([HAVE_FUZZER], [test "$have_fuzzer" = yes])])

# EVZK_ZK_CAN(FUNCTION, NAME): sets zk_NAME and HAVE_ZOO_NAME.
AC_DEFUN([EVZK_ZK_CAN], [
AC_CHECK_LIB([zookeeper_st], [$1], [zk_$2=yes
    AC_DEFINE([HAVE_ZOO_]m4_toupper([$2]), [1],
        [The ZooKeeper C client has $1().])], [zk_$2=no], [$ZOOKEEPER_LIBS])])

# The single-threaded C client: there, new enough, and what can it do?
AC_DEFUN([EVZK_ZOOKEEPER], [
AC_ARG_VAR([ZOOKEEPER_CFLAGS], [C compiler flags for the ZooKeeper client])
AC_ARG_VAR([ZOOKEEPER_LIBS],
    [linker flags for the ZooKeeper client, instead of -lzookeeper_st])
: "${ZOOKEEPER_LIBS=-lzookeeper_st}"
evzk_cppflags=$CPPFLAGS evzk_libs=$LIBS
CPPFLAGS="$CPPFLAGS $ZOOKEEPER_CFLAGS"
AC_CHECK_HEADER([zookeeper/zookeeper.h], [],
    [EVZK_MISSING([<zookeeper/zookeeper.h>], [libzookeeper-st-dev])])
LIBS="$ZOOKEEPER_LIBS $LIBS"
AC_CHECK_FUNC([zookeeper_interest], [],
    [EVZK_MISSING([The single-threaded ZooKeeper client, libzookeeper_st,],
        [libzookeeper-st-dev])])
LIBS=$evzk_libs
EVZK_ZK_CAN([zookeeper_init2], [init2])
EVZK_ZK_CAN([zoo_aremove_all_watches], [remove_all_watches])
EVZK_ZK_CAN([zoo_set_servers_resolution_delay],
    [set_servers_resolution_delay])
AS_IF([test "$zk_init2$zk_remove_all_watches" != yesyes],
    [AC_MSG_ERROR([the ZooKeeper C client is older than 3.5.
  On Debian 12:  apt-get install libzookeeper-st-dev  (3.8.0)])])

AC_MSG_CHECKING([for the version of the ZooKeeper C client])
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <zookeeper/zookeeper_version.h>
zk_version_is ZOO_VERSION]])],
    [zk_version=$($CPP -P $CPPFLAGS conftest.$ac_ext 2>/dev/null |
        tr -d '\n' | sed -n 's/.*zk_version_is *"\(.*\)".*/\1/p')])
AC_MSG_RESULT([${zk_version:=unknown}])

AC_MSG_CHECKING([for containers in the ZooKeeper C client])
LIBS="$ZOOKEEPER_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <zookeeper/zookeeper.h>]],
    [[return ZOO_CONTAINER;]])],
    [zk_container=yes
     AC_DEFINE([HAVE_ZOO_CONTAINER], [1],
        [The ZooKeeper C client has container nodes.])],
    [zk_container=no])
LIBS=$evzk_libs
AC_MSG_RESULT([$zk_container])
EVZK_ZK_CAN([zoo_acreate2_ttl], [ttl])
EVZK_ZK_CAN([zookeeper_init_ssl], [tls])
EVZK_ZK_CAN([zookeeper_init_sasl], [sasl])
CPPFLAGS=$evzk_cppflags

# What a static link needs besides the client itself.
ZOOKEEPER_LIBS_PRIVATE=-lm
AS_IF([test "$zk_tls" = yes],
    [ZOOKEEPER_LIBS_PRIVATE="$ZOOKEEPER_LIBS_PRIVATE -lssl -lcrypto"])
AS_IF([test "$zk_sasl" = yes],
    [ZOOKEEPER_LIBS_PRIVATE="$ZOOKEEPER_LIBS_PRIVATE -lsasl2"])
AC_SUBST([ZOOKEEPER_LIBS_PRIVATE])])

# The example server writes JSON with json-c; the library needs none of it.
AC_DEFUN([EVZK_EXAMPLES], [
PKG_CHECK_MODULES([JSON_C], [json-c >= 0.13], [have_json_c=yes],
    [have_json_c=no])
AM_CONDITIONAL([HAVE_JSON_C], [test "$have_json_c" = yes])

# An example has threads, and so have its tests: the library has none.
PKG_CHECK_MODULES([LIBEVENT_PTHREADS], [libevent_pthreads >= 2.1],
    [have_evthread=yes], [have_evthread=no])
AM_CONDITIONAL([HAVE_EVTHREAD], [test "$have_evthread" = yes])])

# The command evzk prints tables with libsmartcols, and JSON with json-c.
AC_DEFUN([EVZK_COMMAND], [
PKG_CHECK_MODULES([SMARTCOLS], [smartcols >= 2.30], [have_smartcols=yes],
    [have_smartcols=no])
have_command=no
AS_IF([test "$have_json_c$have_smartcols" = yesyes], [have_command=yes])
AM_CONDITIONAL([HAVE_COMMAND], [test "$have_command" = yes])])

# Only for tests and documents: nothing here is needed to build.
AC_DEFUN([EVZK_TOOLS], [
AC_ARG_ENABLE([tests], [AS_HELP_STRING([--disable-tests],
    [leave the tests out; they need Check, xxHash and libmd])], [],
    [enable_tests=yes])
have_check=no
AS_IF([test "x$enable_tests" != xno],
    [PKG_CHECK_MODULES([CHECK], [check >= 0.10], [have_check=yes],
        [have_check=no])
     PKG_CHECK_MODULES([SIM], [libxxhash >= 0.8 libmd >= 1.0], [],
        [have_check=no])])
AM_CONDITIONAL([TESTS_WANTED], [test "x$enable_tests" != xno])
AM_CONDITIONAL([HAVE_CHECK], [test "$have_check" = yes])
AC_PATH_PROG([VALGRIND], [valgrind], [no])
AC_PATH_PROG([MANDOC], [mandoc], [no])
AC_PATH_PROG([DOT], [dot], [no])
AC_PATH_PROG([ABIDIFF], [abidiff], [no])
AC_PATH_PROG([CMAKE], [cmake], [no])
AC_PATH_PROG([MESON], [meson], [no])
AC_PATH_PROG([MMDEBSTRAP], [mmdebstrap], [no])
AC_PATH_PROG([DOXYGEN], [doxygen], [no])
AC_PATH_PROG([SPHINX_BUILD], [sphinx-build], [no])
AC_PATH_PROG([CHROMEDRIVER], [chromedriver], [no])
AC_PATH_PROG([JAVA], [java], [no])])

# EVZK_SAY(WHAT, ANSWER, REMEDY): a row of the summary; REMEDY when "no".
AC_DEFUN([EVZK_SAY], [AS_IF([test "x$2" = xno],
    [AS_ECHO(["  m4_substr([$1                    ], 0, 20)no   $3"])],
    [AS_ECHO(["  m4_substr([$1                    ], 0, 20)$2"])])])

AC_DEFUN([EVZK_SUMMARY], [
zk_source="build the client from source with"
AS_ECHO([""])
AS_ECHO(["evzk $PACKAGE_VERSION is configured."])
AS_ECHO(["  compiler            $CC"])
AS_ECHO(["  libevent            $($PKG_CONFIG --modversion libevent_core)"])
AS_ECHO(["  warnings as errors  $enable_werror"])
AS_ECHO(["  sanitizers          $enable_sanitizers"])
AS_ECHO(["The ZooKeeper C client, $ZOOKEEPER_LIBS"])
AS_ECHO(["  version             $zk_version"])
EVZK_SAY([containers], [$zk_container], [needs a client of 3.5.1 or newer])
EVZK_SAY([TTL nodes], [$zk_ttl], [needs a client of 3.5.3 or newer])
EVZK_SAY([TLS], [$zk_tls], [$zk_source --with-openssl (Debian's has none)])
EVZK_SAY([SASL], [$zk_sasl], [$zk_source --with-sasl (Debian's has none)])
AS_ECHO(["Tests, documents, examples (optional; all at once: ./quickstart deps)"])
EVZK_SAY([command evzk], [$have_command],
    [apt-get install libsmartcols-dev libjson-c-dev])
EVZK_SAY([shard-server], [$have_json_c], [apt-get install libjson-c-dev])
EVZK_SAY([worker threads], [$have_evthread], [apt-get install libevent-dev])
AS_IF([test "x$enable_tests" = xno],
    [AS_ECHO(["  tests               left out, as asked"])],
    [EVZK_SAY([tests], [$have_check],
        [apt-get install check libxxhash-dev libmd-dev])])
EVZK_SAY([real servers], [$JAVA],
    [apt-get install default-jre-headless libzookeeper-java])
EVZK_SAY([fuzzer], [$have_fuzzer],
    [apt-get install clang libclang-rt-dev, and configure with CC=clang])
EVZK_SAY([valgrind], [$VALGRIND], [apt-get install valgrind])
EVZK_SAY([mandoc], [$MANDOC], [apt-get install mandoc])
EVZK_SAY([dot], [$DOT], [apt-get install graphviz])
EVZK_SAY([abidiff], [$ABIDIFF], [apt-get install abigail-tools])
EVZK_SAY([cmake], [$CMAKE], [apt-get install cmake])
EVZK_SAY([meson], [$MESON], [apt-get install meson])
EVZK_SAY([packages], [$MMDEBSTRAP],
    [apt-get install mmdebstrap lintian autopkgtest])
EVZK_SAY([doxygen], [$DOXYGEN], [apt-get install doxygen (make html)])
EVZK_SAY([sphinx-build], [$SPHINX_BUILD],
    [apt-get install python3-sphinx python3-myst-parser python3-breathe furo])
EVZK_SAY([chromedriver], [$CHROMEDRIVER],
    [apt-get install chromium-driver python3-selenium])
AS_ECHO([""])])
