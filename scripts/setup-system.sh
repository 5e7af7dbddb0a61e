#!/bin/sh
# Installs the system packages that the executors, the adapters and their tests use. Needs nothing but a POSIX shell,
# since it runs before anything else is installed; does nothing when all is there.
set -eu

# The PATH of an ordinary user inside a workspace decides, not that of the user who runs this.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

missing=''
need() { # package, then a command that shows that it is there
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}

need bubblewrap command -v bwrap
need proot command -v proot
need bash command -v bash
need zsh command -v zsh
need fish command -v fish
need busybox-static command -v busybox
need strace command -v strace
need perl command -v perl
need libperl-critic-perl command -v perlcritic
need python3 command -v python3
need python3-venv python3 -c 'import venv, ensurepip'
need git command -v git
need util-linux command -v setpriv
need gcc command -v cc
need libc6-dev test -e /usr/include/stdio.h
need nodejs command -v node
need npm command -v npm
need runc command -v runc
need golang-github-containers-common test -e /usr/share/containers/seccomp.json
need radosgw command -v radosgw
need ceph-mon command -v ceph-mon
need ceph-osd command -v ceph-osd
need ceph-common command -v radosgw-admin
need ceph-base command -v monmaptool
need rclone command -v rclone
need fuse3 command -v fusermount3
need redis-server command -v redis-server

if [ -z "$missing" ]; then
  echo 'setup:system: everything is installed'
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "setup:system: this system has no apt-get; install these packages, or what they are called here:$missing" >&2
  exit 1
fi

if [ "$(id -u)" = 0 ]; then
  as_root=''
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "setup:system: not root and no sudo; have an administrator run: apt-get install$missing" >&2
  exit 1
fi

echo "setup:system: installing$missing"
# the variable goes through env: sudo drops what it does not know
# shellcheck disable=SC2086 # lists of words
{
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing </dev/null
}
