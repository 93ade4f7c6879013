#!/usr/bin/env bash
# Prepares a machine to build Tandem: checks the Swift toolchain, and installs missing system packages. If nothing is
# missing, it changes nothing, uses no network, and prints nothing.
#
# Usage: setup.sh [PACKAGE...]. The arguments are Debian packages that a task also needs, such as strace for the tests.
set -euo pipefail

readonly minimum=6.2
readonly packages=(git pkg-config libsqlite3-dev "$@")

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
    say "$1"
    shift
    (($# == 0)) || printf '       %s\n' "$@" >&2
    exit 1
}

check_swift() {
    command -v swift >/dev/null || fail \
        "no Swift toolchain: \`swift\` is not on the PATH." \
        "Install Swift $minimum or newer (https://www.swift.org/install/linux/) and run this again."
    local version
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
    [[ -n $version ]] || fail \
        "\`swift --version\` does not print a version. Is the toolchain complete?" \
        "Run \`swift --version\` to see its output."
    [[ $(printf '%s\n%s\n' "$minimum" "$version" | sort -V | head -n 1) == "$minimum" ]] || fail \
        "Swift $version is too old: Tandem needs $minimum or newer." \
        "See https://www.swift.org/install/linux/; $(command -v swift) is the one found."
}

missing_packages() {
    local package
    for package in "${packages[@]}"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
    done
}

install_packages() {
    local become=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail \
            "missing: $*. You are not root, and there is no sudo." \
            "As root: apt-get update && apt-get install --yes $*"
        become=(sudo)
    fi
    say "installing $*"
    local apt=("${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    if ! { "${apt[@]}" update && "${apt[@]}" install --yes "$@" >/dev/null; }; then
        fail "apt-get could not install: $*. See its output above. Is there a network?" \
            "Once they are installed, run this again."
    fi
}

check_swift
[[ $(uname -s) == Linux ]] || exit 0 # Apple's SDKs include SQLite.

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
elif ! printf '#include <sqlite3.h>\n' | clang -E -xc - >/dev/null 2>&1; then
    fail "SQLite's headers are missing, and this is not Debian, so they can't be installed from here." \
        "Install SQLite for development (sqlite-devel, sqlite-dev) and git, and run this again."
fi
