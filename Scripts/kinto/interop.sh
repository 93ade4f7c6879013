#!/usr/bin/env bash
# Synchronizes devices with Kinto, in memory and on PostgreSQL (interop.py). TANDEM_KINTO_SECONDS=180 selects the long
# form. Exits with 75 and one line if PyPI can't be reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

code=0
python=$(Scripts/python.sh kinto) || code=$?
if ((code != 0)); then
    echo "$python"
    exit "$code"
fi
swift build --product KintoTestPeer
exec "$python" Scripts/kinto/interop.py "$(swift build --show-bin-path)/KintoTestPeer"
