#!/usr/bin/env bash
# Builds the DocC archives of all libraries into .build/docs, if sources or articles changed since the last build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly archives=.build/docs
libraries=()
for catalogue in Sources/*/*.docc; do libraries+=("$(basename "$(dirname "$catalogue")")"); done

state=$({
    swift --version 2>/dev/null
    find Sources Package.swift -type f -print0 | sort -z | xargs -0 sha256sum
} | sha256sum)
if [[ -f $archives/state && $(<"$archives/state") == "$state" ]]; then
    echo "docs: nothing changed since $archives was built"
    exit 0
fi
# A single invocation: planning each library separately takes longer than its documentation.
TANDEM_DOCS=1 swift package generate-documentation "${libraries[@]/#/--target=}"
rm -rf "$archives" && mkdir -p "$archives"
for library in "${libraries[@]}"; do mv ".build/plugins/Swift-DocC/outputs/$library.doccarchive" "$archives/"; done
echo "$state" > "$archives/state"
