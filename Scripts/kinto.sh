#!/usr/bin/env bash
# Installs Kinto from PyPI (kinto-requirements.txt), starts it with a PostgreSQL of its own on loopback, and prints the
# commands that connect the cards app. Ctrl-C stops both and removes the data.
#
# Usage: kinto.sh [--port PORT] [--keep FOLDER] [--faults] [--run COMMAND...]. --keep keeps the data in a folder for the
# next run. --run runs a command with CARDS_SERVER and CARDS_TOKEN instead of waiting, and ends with its exit code.
# --faults puts a proxy in between, which the command controls: kinto/run.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

code=0
python=$(Scripts/python.sh kinto) || code=$?
if ((code != 0)); then
    # python.sh has printed the other reasons.
    ((code != 75)) || printf 'kinto: %s\n' "$python" >&2
    exit 1
fi
exec "$python" Scripts/kinto/run.py "$@"
