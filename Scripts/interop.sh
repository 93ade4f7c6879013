#!/usr/bin/env bash
# Exchanges encrypted databases with SQLCipher 4 and SQLite3 Multiple Ciphers (interop.py), computes the test vectors
# from scratch, exchanges files with moto's S3 server by signed addresses, and synchronizes two stores with it
# (interop-s3.py). Then synchronizes devices with Kinto (kinto/interop.sh). Before that, compares the order of names with
# ICU's (collation/compare.py), which needs no package of PyPI.
#
# Usage: interop.sh [ROUNDS]. Ends with `interop: all passed`, with an error, or, if PyPI can't be reached, with
# `interop: skipped` and the reason. What needs Kinto's packages is skipped by itself: `interop: skipped kinto`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly rounds=${1:-6}

swift build --product CollationTestPeer
python3 Scripts/collation/compare.py "$(swift build --show-bin-path)/CollationTestPeer"

code=0
python=$(Scripts/python.sh interop) || code=$?
if ((code == 75)); then
    echo "interop: skipped, $python"
    exit 0
fi
((code == 0)) || exit "$code"

swift build --product SQLiteCipherTestPeer
swift build --product SignedFilesTestPeer
"$python" Scripts/interop-s3.py "$(swift build --show-bin-path)/SignedFilesTestPeer"
"$python" Scripts/check-vectors.py
"$python" Scripts/interop.py "$(swift build --show-bin-path)/SQLiteCipherTestPeer" "$rounds"

# The packages must be there before the exchange begins, so that its own exit code is not a skip.
code=0
reason=$(Scripts/python.sh kinto) || code=$?
if ((code == 75)); then
    echo "interop: skipped kinto: $reason"
    exit 0
fi
((code == 0)) || exit "$code"
Scripts/kinto/interop.sh
