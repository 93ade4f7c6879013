#!/usr/bin/env bash
# Installs the peers for exchanges and comparisons of databases (interop-requirements.txt), from PyPI into a virtual
# environment under .build, on first use. Prints the path of its Python.
#
# Exits with 1 and pip's output if they can't be installed, and with 75 and one line if PyPI can't be reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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
        # A missing network is not a failure of this project. A missing package is one.
        if grep -qE 'ConnectionError|Connection refused|NewConnectionError|name resolution|timed out|unreachable|ProxyError' "$log"; then
            echo "PyPI can't be reached for $(grep -v '^#' "$requirements" | paste -sd ' ')"
            exit 75
        fi
        echo "the packages of $requirements can't be installed; pip's words are above" >&2
        exit 1
    fi
    cp "$requirements" "$environment/installed"
fi
echo "$PWD/$environment/bin/python"
