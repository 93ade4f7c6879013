#!/usr/bin/env bash
# Builds the benchmarks in release and runs them. Records the sections of Benchmarks/RESULTS.md that it measures
# completely, and draws the charts in docs/charts again.
#
# Usage: bench.sh [--check | TASK_OR_SECTION...]. --check runs a hundredth of some tasks in the debug build of the
# tests. It checks that they work, and their requests and memory, but not their speed. It checks one time limit: the p99
# of live-foreign, the time until another process's commit is noticed, is at most 100 ms.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# SwiftPM reuses an existing build plan even if it belongs to another package.
rm -f .build/*/debug/description.json .build/*/release/description.json
build=(swift build --package-path Benchmarks --scratch-path .build --product Benchmarks)
if [[ ${1:-} == --check ]]; then
    TANDEM_OPTIMIZE=1 "${build[@]}"
    exec .build/debug/Benchmarks --quick push pull-100k sync-idle file-upload file-download live-foreign
fi
# Measure the same build as users have: without the flags that tests add.
TANDEM_OPTIMIZE=0 "${build[@]}" -c release
commit=$(git rev-parse --short HEAD)
[[ -z $(git status --porcelain -- Sources Benchmarks/Sources) ]] || commit+=' with uncommitted changes'
# Includes SQLCipher and Kinto if PyPI can be reached.
python() { Scripts/python.sh "$1" || true; }
TANDEM_PEERS_PYTHON=$(python interop) TANDEM_KINTO_PYTHON=$(python kinto) \
    .build/release/Benchmarks --record Benchmarks/RESULTS.md --commit "$commit" "$@"
Scripts/draw-charts.py
