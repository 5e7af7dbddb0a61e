#!/bin/sh
# Installs what only the deep tier needs: Java, Go and cargo, whose programs reach hosts by name, and OpenStack Swift, a third S3
# server. Swift goes into a directory of its own, since its packages would start services. `WS_SWIFT` names another directory;
# tests look there too.
set -eu
export DEBIAN_FRONTEND=noninteractive

command -v apt-get >/dev/null || { echo 'setup-deep: this system has no apt-get' >&2; exit 1; }
apt-get install -y -q --no-install-recommends default-jdk-headless golang-go cargo

directory=${WS_SWIFT:-/opt/ws-swift}
if test -e "$directory/done"; then exit 0; fi

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
