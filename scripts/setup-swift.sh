#!/bin/sh
# Puts OpenStack Swift of Debian into a directory of its own, for the tests on a third S3 server. Nothing is installed into the
# system, and no service starts. `WS_SWIFT` names another directory; tests look there too.
set -eu

directory=${WS_SWIFT:-/opt/ws-swift}
if test -e "$directory/done"; then exit 0; fi
command -v apt-get >/dev/null || { echo 'setup:swift: this system has no apt-get' >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
servers='swift-proxy swift-account swift-container swift-object'
# shellcheck disable=SC2086
packages=$(apt-get install --simulate --no-install-recommends $servers | awk '/^Inst/ { print $2 }')
# shellcheck disable=SC2086
apt-get download -q $packages
mkdir -p "$directory"
for package in *.deb; do dpkg-deb --extract "$package" "$directory"; done
touch "$directory/done"
