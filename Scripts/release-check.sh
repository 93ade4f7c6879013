#!/usr/bin/env bash
# Runs the checks that are too long for CI, before a version is tagged. Records the date and the commit in
# .ci/release-check.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export TANDEM_STRICT=1 LC_ALL=C.UTF-8

[[ -z $(git status --porcelain) ]] || { echo 'release-check: commit first: the record names a commit' >&2; exit 1; }
readonly record=.ci/release-check
started=$(date -u +%FT%TZ)

# Compile everything in release, as users build it: without the flags that tests add.
rm -f .build/*/release/description.json
TANDEM_OPTIMIZE=0 swift build -c release
make interop ROUNDS=200
# Run both demos with both kinds of names; CI runs two of the four.
make demo KEY='три весёлых тигра'
TANDEM_SHARED=/nonexistent make demo
make soak
make bench

printf '%s %s passed, begun %s\n' "$(date -u +%FT%TZ)" "$(git rev-parse HEAD)" "$started" >> "$record"
tail -n 1 "$record"
