#!/usr/bin/env bash
# Fails if a target that must build without SwiftNIO depends on it, directly or indirectly. An app that stores objects
# without sync must build no network library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
swift package dump-package > "$folder/package.json"
swift package show-dependencies --format json --output-path "$folder/dependencies.json" > /dev/null

python3 - "$folder" << 'END'
import json, sys

FREE_OF_NIO = [
    "Tandem", "SQLiteCipher", "TandemSync", "RemoteHTTP", "DatasyncWire", "KintoWire", "TandemServerCore",
    "TandemTesting", "TandemInspector",
]
NETWORK = ("swift-nio", "async-http-client", "hummingbird")

package = json.load(open(f"{sys.argv[1]}/package.json"))
targets = {target["name"]: target for target in package["targets"]}

# The dependencies of each package, by identity. Repeated packages are expanded only once.
needs = {}
def walk(node):
    needs.setdefault(node["identity"], set()).update(child["identity"] for child in node["dependencies"])
    for child in node["dependencies"]:
        walk(child)
walk(json.load(open(f"{sys.argv[1]}/dependencies.json")))

def network_path(identity, path):
    if identity.startswith(NETWORK):
        return path + [identity]
    for child in sorted(needs.get(identity, ())):
        if child not in path:
            found = network_path(child, path + [identity])
            if found:
                return found
    return None

def offence(name, path, seen):
    """The way from a target to a package of the network, if there is one."""
    if name in seen:
        return None
    seen.add(name)
    for dependency in targets[name]["dependencies"]:
        if "product" in dependency:
            product, identity = dependency["product"][:2]
            found = network_path(identity.lower(), [])
            if found:
                return path + [name, product] + found
        else:
            child = next(iter(dependency.values()))[0]
            found = offence(child, path + [name], seen)
            if found:
                return found
    return None

missing = [name for name in FREE_OF_NIO if name not in targets]
if missing:
    sys.exit(f"check-graph: no such targets: {', '.join(missing)}")
offences = [found for name in FREE_OF_NIO if (found := offence(name, [], set()))]
for found in offences:
    print("check-graph: " + " → ".join(found), file=sys.stderr)
if offences:
    sys.exit(1)
# A check that finds no dependency at all would pass too.
for name in ["TandemHTTP", "TandemDatasync", "TandemKinto", "TandemBrowser"]:
    if not offence(name, [], set()):
        sys.exit(f"check-graph: {name} is said to need no network library, so this check sees nothing")
print(f"check-graph: no network library below {', '.join(FREE_OF_NIO)}")
END
