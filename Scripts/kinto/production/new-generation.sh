#!/usr/bin/env bash
# Lets all devices pull a bucket again: run it after a restored backup, and after a failover that may have lost commits,
# before clients write. Each device keeps its unsent changes.
#
# Usage: KINTO_USER=admin:PASSWORD new-generation.sh BUCKET_URL. The account needs the permission to write the bucket.
set -euo pipefail

readonly bucket=${1:?usage: new-generation.sh BUCKET_URL}

# The password is not an argument: other users see arguments.
request() { curl --silent --show-error --fail --config <(printf 'user = "%s"\n' "$KINTO_USER") "$@"; }

mapfile -t collections < <(request "$bucket/collections" | python3 -c '
import json, sys
for collection in json.load(sys.stdin)["data"]:
    print(collection["id"])')
for collection in "${collections[@]}"; do
    request --request PATCH --header 'Content-Type: application/json' \
        --data "{\"data\": {\"generation\": \"$(openssl rand -hex 16)\"}}" "$bucket/collections/$collection" > /dev/null
    echo "$collection has a new generation"
done
