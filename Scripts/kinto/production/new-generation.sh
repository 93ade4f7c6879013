#!/usr/bin/env bash
# Makes devices pull a whole bucket again. Each device keeps its unsent changes. Run it after a restore from a backup, or
# after a failover that may have lost commits. Run it before clients write.
#
# Usage: KINTO_USER=admin:PASSWORD kinto-new-generation BUCKET_URL. The account needs the permission to write the bucket.
# The command waits up to ten seconds for a server that is still starting.
set -euo pipefail

readonly bucket=${1:?usage: kinto-new-generation BUCKET_URL}
: "${KINTO_USER:?set it to the name and the password: admin:PASSWORD}"

# The password is not an argument: other users see arguments. In curl's configuration, \ and " have a meaning.
request() {
    curl --silent --show-error --fail --retry 10 --retry-delay 1 --retry-connrefused \
        --config <(printf 'user = "%s"\n' "$(sed 's/["\\]/\\&/g' <<< "$KINTO_USER")") "$@"
}

list=$(request "$bucket/collections")
names=$(python3 -c '
import json, sys
for collection in json.load(sys.stdin)["data"]:
    print(collection["id"])' <<< "$list")
for collection in $names; do
    request --request PATCH --header 'Content-Type: application/json' \
        --data "{\"data\": {\"generation\": \"$(openssl rand -hex 16)\"}}" "$bucket/collections/$collection" > /dev/null
    echo "$collection has a new generation"
done
