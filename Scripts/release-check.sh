#!/usr/bin/env bash
# Runs the checks that are too long for CI, before a version is tagged.
#
# Usage: release-check.sh [PART...]. Without PART it runs all parts: release, interop, kinto, demos, soak, tsan, bench.
# A machine that is lent for hours only runs them one by one. .ci/release-check keeps, for each part, the commit and the
# date of its last successful run, and the seconds that it took. A version may be tagged if all lines name its commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export TANDEM_STRICT=1 LC_ALL=C.UTF-8
readonly record=.ci/release-check all=(release interop kinto demos soak tsan bench)

# A part may have changed only the record, and the results of the benchmarks with their charts.
commit=$(git rev-parse --short=12 HEAD)
changed=$(git status --porcelain -- . ":!$record" ':!Benchmarks/RESULTS.md' ':!docs/charts')
if [[ -n $changed ]]; then
    printf 'release-check: commit these first, because the record names a commit:\n%s\n' "$changed" >&2
    exit 1
fi

run() {
    case $1 in
        # Everything compiles in release, as users build it: without the flags that tests add.
        release) rm -f .build/*/release/description.json && TANDEM_OPTIMIZE=0 swift build -c release ;;
        interop) make interop ROUNDS=200 ;;
        # Devices that work for three minutes while servers fail, with nginx.
        kinto)
            Scripts/setup.sh python3 python3-venv postgresql nginx-light
            rm -f .build/*/debug/description.json
            TANDEM_OPTIMIZE=1 TANDEM_KINTO_SECONDS=180 Scripts/kinto/interop.sh
            ;;
        # Both stories with both kinds of names. CI runs two of the four.
        demos) make demo KEY='три весёлых тигра' && TANDEM_SHARED=/nonexistent make demo ;;
        soak) TANDEM_SOAK=1 Scripts/test.sh --macros && TANDEM_SOAK=1 Scripts/test.sh ;;
        tsan) make tsan ;;
        bench) make bench ;;
        *) printf 'release-check: %s is not a part. The parts are: %s\n' "$1" "${all[*]}" >&2 && return 2 ;;
    esac
}

(($# > 0)) || set -- "${all[@]}"
for part in "$@"; do
    started=$SECONDS
    run "$part"
    others=$(grep -v "^$part " "$record" 2>/dev/null || true)
    {
        [[ -z $others ]] || printf '%s\n' "$others"
        printf '%-8s %s %s %d s\n' "$part" "$commit" "$(date -u +%F)" "$((SECONDS - started))"
    } > "$record"
done
cat "$record"
