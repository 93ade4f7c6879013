#!/usr/bin/env bash
# Synchronizes devices with Kinto, in memory and on PostgreSQL (interop.py), and runs the second act of the cards app's
# demo with it. TANDEM_KINTO_SECONDS=180 selects the long form. Exits with 75 and one line if PyPI can't be reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

code=0
python=$(Scripts/python.sh kinto) || code=$?
if ((code != 0)); then
    echo "$python"
    exit "$code"
fi
swift build --product KintoTestPeer
"$python" Scripts/kinto/interop.py "$(swift build --show-bin-path)/KintoTestPeer"

# The app shares the build folder. SwiftPM would reuse the plan of the other package.
forget_plan() { rm -f .build/*/debug/description.json; }
readonly example=(--package-path Examples/DiscountCards --scratch-path .build)
forget_plan
swift build "${example[@]}" --product cards
cards=$(swift build "${example[@]}" --show-bin-path)/cards
forget_plan
Scripts/kinto.sh --faults --run "$cards" demo --kinto
echo "kinto: the demo's second act passed"
