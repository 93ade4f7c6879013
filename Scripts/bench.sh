#!/usr/bin/env bash
# Builds the benchmarks in release and runs them. Records the sections of Benchmarks/RESULTS.md that it measures whole.
#
# Usage: bench.sh [--build | TASK_OR_SECTION...]. --build builds only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Measure what users build: without the flags that tests add.
export TANDEM_OPTIMIZE=0
# SwiftPM reuses an existing build plan even if it belongs to another package.
rm -f .build/*/release/description.json
# Optimizing swift-syntax for the macro plugin takes longer than all else, and the plugin is not measured.
swift build --package-path Benchmarks --scratch-path .build -c release --product Benchmarks -Xbuild-tools-swiftc -Onone
[[ ${1:-} == --build ]] && exit 0
commit=$(git rev-parse --short HEAD)
[[ -z $(git status --porcelain -- Sources Benchmarks/Sources) ]] || commit+=' with uncommitted changes'
# SQLCipher takes part if PyPI can be reached.
TANDEM_PEERS_PYTHON=$(Scripts/peers.sh || true) \
    .build/release/Benchmarks --record Benchmarks/RESULTS.md --commit "$commit" "$@"
