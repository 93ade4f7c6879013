#!/usr/bin/env bash
# Backs up the database of Kinto and its files into a new folder, and checks that the dump can be read.
#
# Usage: kinto-backup TARGET [FILES] [DAYS]. FILES is /var/lib/kinto/files by default. Backups older than DAYS (14) are
# removed, after a backup that succeeded. Run it as the user kinto, from cron or a systemd timer. The variables of libpq
# select another database: PGHOST, PGDATABASE.
set -euo pipefail

readonly target=${1:?usage: kinto-backup TARGET [FILES] [DAYS]} files=${2:-/var/lib/kinto/files} days=${3:-14}
readonly name=kinto-$(date -u +%Y%m%dT%H%M%SZ)
readonly partial=$target/.$name.partial

umask 077
mkdir -p "$partial"
trap 'rm -rf "$partial"' EXIT

# First the database: a file is stored before its record, and never changed. So the files of all records are there,
# except those that were deleted in between.
pg_dump --format custom --file "$partial/database" "${PGDATABASE:-kinto}"
pg_restore --list "$partial/database" > /dev/null

# Unchanged files are links to those of the backup before.
previous=$(find "$target" -mindepth 1 -maxdepth 1 -type d -name 'kinto-*' | sort | tail -n 1)
rsync --archive --delete ${previous:+--link-dest="$(realpath "$previous")/files"} "$files/" "$partial/files/"

mv --no-target-directory "$partial" "$target/$name"
find "$target" -mindepth 1 -maxdepth 1 -type d -name 'kinto-*' -mtime "+$days" -exec rm -rf {} +
echo "$target/$name"
