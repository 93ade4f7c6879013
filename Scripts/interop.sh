#!/usr/bin/env bash
# Exchanges encrypted databases with SQLCipher 4 and SQLite3 Multiple Ciphers (interop.py), and computes the test
# vectors anew. Both come from PyPI, into a virtual environment under .build, the first time.
#
# Usage: interop.sh [ROUNDS]. Ends with `interop: all passed`, with an error, or, where PyPI can't be reached, with
# `interop: skipped` and the reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly rounds=${1:-6}
readonly requirements=Scripts/interop-requirements.txt
readonly environment=.build/interop
readonly log=.build/interop.log

if ! cmp -s "$requirements" "$environment/installed"; then
    rm -rf "$environment"
    mkdir -p .build
    python3 -m venv "$environment"
    if ! "$environment/bin/pip" --disable-pip-version-check install --quiet --retries 2 --timeout 20 \
        --only-binary :all: --requirement "$requirements" >"$log" 2>&1; then
        cat "$log" >&2
        # A network that is not there is no failure of ours; a package that is not there is.
        if grep -qE 'Connection|NewConnectionError|resolution|timed out|unreachable|ProxyError' "$log"; then
            packages=$(grep -v '^#' "$requirements" | paste -sd ' ')
            echo "interop: skipped, PyPI can't be reached for $packages"
            exit 0
        fi
        echo "interop: the packages of $requirements can't be installed; pip's words are above" >&2
        exit 1
    fi
    cp "$requirements" "$environment/installed"
fi

swift build --product SQLiteCipherTestPeer
"$environment/bin/python" Scripts/check-vectors.py
"$environment/bin/python" Scripts/interop.py "$(swift build --show-bin-path)/SQLiteCipherTestPeer" "$rounds"
