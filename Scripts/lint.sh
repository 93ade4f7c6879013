#!/usr/bin/env bash
# Checks the format of all Swift files, the habits of style, which files call SQLite, that each test suite may block its
# threads, and that the charts show the recorded benchmarks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

Scripts/swift-files.sh | xargs -0 swift format lint --strict --parallel

# Comments, messages, line lengths, and the names of tests, files and types.
Scripts/count-style.py --check

Scripts/charts/test_charts.py --quiet
Scripts/draw-charts.py --check

# Only the folder SQLite/, and the reader of rows and the row of values below it, call SQLite directly.
importers=$(git grep -lE '^ *(@[a-z]+ )?([a-z]+ )?import (GRDBSQLite|SQLitePreupdate)' -- Sources/Tandem | grep -vE \
    '^Sources/Tandem/(SQLite/|Model/(RowDecoder|BoundRow)\.swift$)' || true)
if [[ -n $importers ]]; then
    printf 'lint: wrap the calls of SQLite in Sources/Tandem/SQLite, so that these files need not import it:\n%s\n' \
        "$importers" >&2
    exit 1
fi

# The macros' tests are synchronous and do not wait.
unblocked=$(git grep -lE '^(@MainActor )?@Suite' -- Tests ':!Tests/TandemMacrosTests' | xargs perl -0ne '
    while (/^(?:\@MainActor )?\@Suite(\((?:[^()]|(?1))*\))?/mg) {
        print "$ARGV\n" unless ($1 // "") =~ /\.ownThreads/;
    }')
if [[ -n $unblocked ]]; then
    printf 'lint: add `.ownThreads` to the suites of these files, so that they do not block the cooperative pool:\n%s\n' \
        "$unblocked" >&2
    exit 1
fi
