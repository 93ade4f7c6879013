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
trap 'rm -rf "$TMPDIR"' EXIT
chmod 1777 "$TMPDIR"
# A single hung test must not use all of CI's time. Its name is printed then.
log=$TMPDIR/tests.log status=0
timeout "${TANDEM_TEST_LIMIT:-$([[ ${TANDEM_SOAK:-} == 1 || $kind == tsan ]] && echo 6h || echo 15m)}" \
    swift test --skip-build "${options[@]}" --experimental-maximum-parallelization-width "${TANDEM_TEST_WIDTH:-6}" 2>&1 \
    | tee "$log" || status=$?
if ((status == 124)); then
    printf 'test: the time limit ended the run. Tests that had begun and not ended:\n' >&2
    comm -23 <(sed -nE 's/^◇ Test (.+) started\.$/\1/p' "$log" | sort) \
        <(sed -nE 's/^[✔✘➜] Test (.+) (passed|failed|skipped).*$/\1/p' "$log" | sort) >&2
fi
exit "$status"
