#!/usr/bin/env bash
# Names the Swift files that are written by hand, each ended by NUL: all but generated tables and build products.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

roots=()
for root in Sources Tests Examples Benchmarks Package.swift; do
    [[ -e $root ]] && roots+=("$root")
done
find "${roots[@]}" -name '.build*' -prune -o -type f -name '*.swift' ! -name '*+Generated.swift' -print0
