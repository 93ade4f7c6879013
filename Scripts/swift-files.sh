#!/usr/bin/env bash
# Prints the paths of all hand-written Swift files, each terminated by NUL: without generated tables and build products.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

roots=()
for root in Sources Tests Examples Benchmarks Package.swift; do
    [[ -e $root ]] && roots+=("$root")
done
find "${roots[@]}" -name '.build*' -prune -o -type f -name '*.swift' ! -name '*+Generated.swift' -print0
