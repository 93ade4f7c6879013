#!/usr/bin/env bash
# Builds and runs the tests in one run.
#
# Usage: test.sh [--macros] [--tsan] [FILTER]. FILTER is a regular expression over `Target.Suite/test`.
#   --macros  run only the tests of the macros, which are a separate build (Package.swift explains why)
#   --tsan    run under the thread sanitizer, in .build-tsan, with few random histories
# TANDEM_SOAK=1 runs the long forms. TANDEM_TEST_WIDTH sets the number of concurrent test cases (6).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

options=() kind=all
case ${1:-} in
    --macros | --tsan) kind=${1#--} && shift ;;
esac
if [[ $kind == tsan ]]; then
    # The sanitizer makes each random history a hundred times as slow.
    export TANDEM_TSAN=1 TANDEM_HISTORIES=${TANDEM_HISTORIES:-40}
    export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0 exitcode=66}
    options+=(--sanitize=thread --scratch-path .build-tsan)
fi
[[ $kind == macros ]] && export TANDEM_MACRO_TESTS=1

# SwiftPM reuses an existing build plan even if it belongs to another package or environment.
rm -f .build/*/debug/description.json
swift build --build-tests "${options[@]}"
[[ -n ${1:-} ]] && options+=(--filter "$1")
# Tests leave their folders behind. Processes of other users must be able to enter them.
TMPDIR=$(mktemp -d /tmp/tandem-XXXXXX)
export TMPDIR
session='' watcher=''
# A second signal must not interrupt the cleanup.
trap 'trap "" INT TERM; end_session; rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM
chmod 1777 "$TMPDIR"

# Prints `PID PARENT STATE` of each process of the run's session.
session_processes() {
    local file line fields
    for file in /proc/[0-9]*/stat; do
        { read -r line <"$file"; } 2>/dev/null || continue
        # The name in parentheses may have spaces.
        read -ra fields <<<"${line##*) }"
        [[ ${fields[3]} != "$session" ]] || echo "${line%% *} ${fields[1]} ${fields[0]}"
    done
}

# Ends the remaining processes of the run.
end_session() {
    local pid
    [[ -n $session ]] || return 0
    kill ${watcher:+"$watcher"} 2>/dev/null || true
    for pid in $(session_processes | cut -d ' ' -f 1); do kill -KILL "$pid" 2>/dev/null || true; done
    session=''
}

# Ends the processes that outlive the test process. After a crash, they hold its output open, and `swift test` would
# wait for the end of that output until the time limit.
end_orphans() {
    local processes main tests
    while sleep 2; do
        processes=$(session_processes)
        main=$(awk -v parent="$session" '$2 == parent { print $1; exit }' <<<"$processes")
        [[ -n $main ]] || continue
        tests=$(awk -v parent="$main" '$2 == parent && $3 != "Z"' <<<"$processes")
        [[ -z $tests ]] || continue
        awk -v session="$session" -v main="$main" '$1 != session && $1 != main && $2 != main { print $1 }' \
            <<<"$processes" | xargs -r kill -KILL 2>/dev/null || true
    done
}

# The output goes to a file: processes that outlive the run must not keep a pipe open. A single hung test must not use
# all of CI's time.
log=$TMPDIR/tests.log status=0
: >"$log"
setsid timeout "${TANDEM_TEST_LIMIT:-$([[ ${TANDEM_SOAK:-} == 1 || $kind == tsan ]] && echo 6h || echo 15m)}" \
    swift test --skip-build "${options[@]}" --experimental-maximum-parallelization-width "${TANDEM_TEST_WIDTH:-6}" \
    </dev/null >"$log" 2>&1 &
session=$!
tail -n +1 -f --pid="$session" "$log" &
follower=$!
end_orphans >/dev/null 2>&1 &
watcher=$!
wait "$session" || status=$?
end_session
wait "$follower" || true
if ((status != 0)); then
    # The end of a test case is not printed. The last line of a test may follow output without a line break.
    unfinished=$(
        comm -23 <(sed -nE '/^◇ Test (case|run) /!s/^◇ Test (.+) started\.$/\1/p' "$log" | sort) \
            <(sed -nE 's/ with [0-9]+ test cases? (passed|failed) after / \1 after /
                s/^.*(✔|✘|━) Test (.+) (passed|failed) after .*$/\2/p' "$log" | sort)
    )
    ((status != 124)) || echo 'test: the time limit ended the run.' >&2
    [[ -z $unfinished ]] || printf 'test: tests that had begun and not ended:\n%s\n' "$unfinished" >&2
fi
exit "$status"
