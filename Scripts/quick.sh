#!/usr/bin/env bash
# Formats, lints, builds and tests what differs from main (or, on main, from the last commit).
#
# A changed test file runs its suites. A changed source file runs the suites of the folder of the same name under the
# target's tests, or all of the target's tests if there is no such folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
mapfile -t changed < <({
    git diff --name-only --diff-filter=d "$base"
    git ls-files --others --exclude-standard
} | sort -u | grep -E '\.swift$|\.docc/' || true)
if ((${#changed[@]} == 0)); then
    echo "quick: nothing differs from ${base:0:10}"
    exit 0
fi

mapfile -t swift < <(printf '%s\n' "${changed[@]}" | grep '\.swift$' | grep -v '+Generated\.swift$' || true)
if ((${#swift[@]} > 0)); then
    swift format format --in-place --parallel "${swift[@]}"
    swift format lint --strict --parallel "${swift[@]}"
fi

# suites FILE_OR_FOLDER...: the names of the suites there.
suites() { grep -rhoE 'struct [A-Za-z0-9]+Tests\b' --include='*.swift' "$@" 2>/dev/null | cut -d ' ' -f 2 | sort -u; }

names=() macros=false examples=false
for file in "${changed[@]}"; do
    case $file in
        Sources/TandemMacros/* | Tests/TandemMacrosTests/*) macros=true ;;
        Examples/*) examples=true ;;
        Tests/*Tests/*) mapfile -t -O "${#names[@]}" names < <(suites "$file") ;;
        Sources/*)
            IFS=/ read -r _ target room _ <<< "$file"
            folder=Tests/${target}Tests
            [[ -d $folder/$room ]] && folder+=/$room
            [[ -d $folder ]] && mapfile -t -O "${#names[@]}" names < <(suites "$folder")
            ;;
    esac
done

if ((${#names[@]} > 0)); then
    pattern=$(printf '%s\n' "${names[@]}" | sort -u | paste -sd '|')
    echo "quick: ${pattern//|/, }"
    Scripts/test.sh "[./](${pattern})/"
fi
$macros && Scripts/test.sh --macros
$examples && make test-examples
echo 'quick: done'
