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
# A single hung test must not use all of CI's time.
timeout "${TANDEM_TEST_LIMIT:-$([[ ${TANDEM_SOAK:-} == 1 ]] && echo 6h || echo 30m)}" \
    swift test --skip-build "${options[@]}" --experimental-maximum-parallelization-width "${TANDEM_TEST_WIDTH:-6}"
