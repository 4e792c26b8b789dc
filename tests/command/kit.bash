# shellcheck shell=bash
# What the tests of the command evzk have in common.  A test is a bash script
# tests/command/test_NAME:
#
#   set -eu
#   # shellcheck source=tests/command/kit.bash
#   . "$(dirname "$0")/kit.bash"
#   start_server
#   expect 0 'evzk 0' evzk version
#   done_testing
#
# The server, the folder $tmp and every process that "background" started are
# gone at the end, however the test ends.  Nothing here sleeps to be safe:
# "wait_for" polls, with a deadline that only ends a hopeless test.  A test that
# hangs is ended after limit_s seconds, which it may set before.

# Signals that are ignored when a script starts, as with nohup, stay ignored in
# all that the script runs: so it starts once more, without any.
if [ -z "${EVZK_TEST_AGAIN:-}" ]; then
    export EVZK_TEST_AGAIN=1
    exec timeout --foreground --kill-after=30 \
        "$((${limit_s:-300} * ${EVZK_TEST_SLOW:-1}))" \
        env --default-signal "$BASH" "$0" "$@"
fi
unset EVZK_TEST_AGAIN

src=${EVZK_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${EVZK_BUILDDIR:-$src/build}
deadline_s=$((60 * ${EVZK_TEST_SLOW:-1}))
tmp=$(mktemp -d "${TMPDIR:-/tmp}/evzk-command-XXXXXX")
stamp=$build/tests/command/stamp
stamps=$tmp/stamps
# Debian's, which has Kazoo.
python=${PYTHON:-/usr/bin/python3}
checks=0
failures=0
children=()

# No setting of the user's reaches a test.
unset EVZK_SERVERS EVZK_AUTH EVZK_AUTH_FILE EVZK_CONFIG XDG_CONFIG_HOME
export HOME=$tmp PATH="$build/tools:$PATH"

clean_up() {
    local status=$? one
    trap - EXIT INT TERM HUP
    for one in "${children[@]}"; do
        kill -CONT "$one" 2>/dev/null || true
        kill -KILL "$one" 2>/dev/null || true
    done
    # A defect of evzk may leave a CMD behind.
    for one in $(pgrep -f -- "$stamp $tmp/"); do
        kill -KILL "$one" 2>/dev/null || true
    done
    if [ -e "$tmp/zk" ]; then "$src/tools/zk-private" stop "$tmp/zk"; fi
    if [ -e "$tmp/zks" ]; then "$src/tools/zk-ensemble" stop "$tmp/zks"; fi
    if [ $status != 0 ] && [ -n "${EVZK_KEEP:-}" ]; then
        echo "kept: $tmp"
    else
        rm -rf "$tmp"
    fi
    exit $status
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

skip() { # WHY: the test cannot run here
    echo "$*"
    exit 77
}

have_kazoo() {
    "$python" -c 'import kazoo.client' 2>/dev/null
}

need_java() {
    command -v "${JAVA:-java}" >/dev/null || skip "no java"
}

# start_server [KEY=VALUE...]: one server, with lines of zoo.cfg.
start_server() {
    need_java
    EVZK_SERVERS=$("$src/tools/zk-private" start "$tmp/zk" "$@")
    export EVZK_SERVERS
}

# Three servers that are one ensemble.
start_ensemble() {
    need_java
    EVZK_SERVERS=$("$src/tools/zk-ensemble" start "$tmp/zks" 3)
    export EVZK_SERVERS
}

ok() { # WHAT
    local what=$*
    checks=$((checks + 1))
    echo "ok ${what:0:200}"
}

# Says also what the last "run" printed.
fail() { # WHAT
    local one
    checks=$((checks + 1))
    failures=$((failures + 1))
    echo "FAIL $*"
    for one in out err; do
        [ ! -s "$tmp/$one" ] || head -n 20 "$tmp/$one" | sed "s/^/    $one: /"
    done
}

# verdict WHAT COMMAND...: ok when the command succeeds.
verdict() {
    local what=$1
    shift
    if "$@"; then ok "$what"; else fail "$what: $*"; fi
}

# run COMMAND...: its output goes to $tmp/out and $tmp/err, its status to
# $status.
run() {
    status=0
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

# expect STATUS TEXT COMMAND...: it exits so, and says TEXT on its standard
# output (or on stderr, when STATUS is not 0).
expect() {
    local wanted=$1 text=$2 where=err
    shift 2
    run "$@"
    [ "$wanted" != 0 ] || where=out
    if [ "$status" = "$wanted" ] &&
        { [ -z "$text" ] || grep -qF -- "$text" "$tmp/$where"; }; then
        ok "$*"
    else
        fail "$*: status $status, wanted $wanted and \"$text\""
    fi
}

# background COMMAND...: leaves its process in $child.
background() {
    "$@" </dev/null &
    child=$!
    children+=("$child")
}

# wait_for WHAT COMMAND...: polls until the command succeeds; ends the test when
# it never does.  <(...) among its arguments could be read only once.
wait_for() {
    local what=$1 end=$((SECONDS + deadline_s))
    shift
    if [[ " $* " == */dev/fd/* ]]; then
        fail "$what: cannot be read again: $*"
        exit 1
    fi
    until "$@"; do
        if ((SECONDS >= end)); then
            fail "waited $deadline_s s for: $what"
            exit 1
        fi
        sleep 0.02
    done
}

# What the server says to a word of four letters.
ask_server() { # WORD
    (
        exec 3<>"/dev/tcp/${EVZK_SERVERS/://}"
        printf '%s' "$1" >&3
        cat <&3
    )
}

# How many ephemeral znodes there are below a path: waiters and holders.
contenders() { # PATH
    ask_server dump | grep -c "^[[:space:]]*$1/" || true
}

# Is a process gone, or only not reaped yet?
gone() { # PID
    local state
    state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) ||
        return 0
    [[ -z $state || $state == Z* ]]
}

# ---------------------------------------- a CMD that writes down when it worked

# hold COMMAND PATH OPTION...: a holder that stamps for ever, with its log in
# $tmp/log; $child is its evzk.
hold() {
    rm -f "$stamps" "$tmp/log"
    background evzk -vv "$@" -- "$stamp" "$stamps" 0 2>"$tmp/log" >/dev/null
    wait_for "evzk $*" test -s "$stamps"
}

# The status of the last background process.
await() {
    status=0
    wait "$child" || status=$?
}

deadline() {
    sed -n 's/.*: lease until \([0-9]*\) us$/\1/p' "$tmp/log" | sort -n |
        tail -n 1
}

# No stamp of a holder that is gone came after the end of its lease.
judge() { # WHAT
    local last end
    last=$(tail -n 1 "$stamps" | cut -d ' ' -f 2)
    end=$(deadline)
    if [ -n "$end" ] && [ "$last" -lt "$end" ]; then
        ok "$1: gone $(((end - last) / 1000)) ms before the deadline"
    else
        fail "$1: wrote at $last, the lease ended at $end"
        cat "$tmp/log"
    fi
}

stamping() { # does the file still grow?
    local before
    before=$(wc -l <"$stamps")
    sleep 0.05
    [ "$(wc -l <"$stamps")" != "$before" ]
}

# The line that quickstart counts.
done_testing() {
    local per_cent=100
    [ $checks -gt 0 ] || fail "no check ran"
    per_cent=$((100 * (checks - failures) / checks))
    echo "$per_cent%: Checks: $checks, Failures: $failures, Errors: 0"
    [ $failures = 0 ] || exit 1
    exit 0
}

# zkcli COMMAND...: ZooKeeper's own client, a command each.
zkcli() {
    printf '%s\n' "$@" quit |
        "${JAVA:-java}" -cp "${ZK_CLASSPATH:-/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar}" \
            org.apache.zookeeper.ZooKeeperMain -server "$EVZK_SERVERS" \
            >"$tmp/zkcli" 2>&1 || true
}
