#!/usr/bin/env bash
# Tests the pages of the card app and of `tandem browse` in a real browser: Debian's Chromium, driven by Playwright from
# PyPI.
#
# Usage: test-browser.sh [FILTER]. Runs the tests whose names contain the filter. Writes screenshots of the main views
# to .build/screenshots. Ends with `browser: all passed`, with an error, or, if PyPI can't be reached, with
# `browser: skipped` and the reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

code=0
python=$(Scripts/python.sh browser) || code=$?
if ((code == 75)); then
    echo "browser: skipped, $python"
    exit 0
fi
((code == 0)) || exit "$code"
chromium=$(command -v chromium || true)
[[ -n $chromium ]] || { echo "browser: Chromium is missing. Install Debian's package chromium." >&2; exit 1; }

swift build --package-path Examples/DiscountCards --scratch-path .build --product cards
cards=$(swift build --package-path Examples/DiscountCards --scratch-path .build --show-bin-path)/cards
swift build --scratch-path .build --product tandem
tandem=$(swift build --scratch-path .build --show-bin-path)/tandem
for tests in test_cards test_inspector; do
    "$python" "Scripts/browser/$tests.py" --cards "$cards" --tandem "$tandem" --chromium "$chromium" \
        --screenshots .build/screenshots "$@"
done
