#!/usr/bin/env bash
# Installs the packages of Scripts/NAME-requirements.txt from PyPI into a virtual environment, .build/NAME, on first
# use. Prints the path of its Python.
#
# Usage: python.sh NAME. Exits with 1 and pip's output if the packages can't be installed, and with 75 and one line if
# PyPI can't be reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly requirements=Scripts/$1-requirements.txt
readonly environment=.build/$1
readonly log=.build/$1.log

# Two commands may need the same environment at once: the second one waits.
mkdir -p .build
exec 9>"$environment.lock"
flock 9
if ! cmp -s "$requirements" "$environment/installed"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    if ! "$environment/bin/pip" --disable-pip-version-check install --quiet --retries 2 --timeout 20 \
        --only-binary :all: --requirement "$requirements" >"$log" 2>&1; then
        cat "$log" >&2
        # A missing network is not a failure of this project. A missing package is one.
        if grep -qE 'ConnectionError|Connection refused|NewConnectionError|name resolution|timed out|unreachable|ProxyError' "$log"; then
            echo "PyPI can't be reached for the packages of $requirements"
            exit 75
        fi
        echo "The packages of $requirements can't be installed. See the output of pip above." >&2
        exit 1
    fi
    cp "$requirements" "$environment/installed"
fi
echo "$PWD/$environment/bin/python"
