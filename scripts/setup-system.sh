#!/bin/sh
# Installs the system packages that users and the short tier need; with the argument `all` those of the other tiers too. Needs
# nothing but a POSIX shell, since it runs before anything else is installed; does nothing when all is there.
set -eu

script=setup:${1:-system}
case $script in
  setup:system | setup:all) ;;
  *) echo "setup-system.sh: there is no set \`$1\`: use system, all" >&2; exit 1 ;;
esac

# The PATH of an ordinary user inside a workspace decides, not that of the user who runs this.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

missing=''
need() { # package, then a command that shows that it is there
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
same_name() { # packages with a command of the same name
  for name; do need "$name" command -v "$name"; done
}

same_name proot bash zsh perl python3 git rclone
need bubblewrap command -v bwrap
need busybox-static command -v busybox
need libperl-critic-perl command -v perlcritic
need python3-venv python3 -c 'import venv, ensurepip'
need util-linux command -v setpriv
need gcc command -v cc
need libc6-dev test -e /usr/include/stdio.h
need nodejs command -v node
need fuse3 command -v fusermount3
if [ "$script" = setup:all ]; then
  same_name fish strace npm runc radosgw ceph-mon ceph-osd redis-server chromium socat tini
  need ripgrep command -v rg
  need openssh-server test -x /usr/sbin/sshd
  need openssh-client command -v ssh
  need docker.io command -v dockerd
  need golang-github-containers-common test -e /usr/share/containers/seccomp.json
  need ceph-common command -v radosgw-admin
  need ceph-base command -v monmaptool
fi

if [ -z "$missing" ]; then
  echo "$script: everything is installed"
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "$script: this system has no apt-get; install these packages, or what they are called here:$missing" >&2
  exit 1
fi

if [ "$(id -u)" = 0 ]; then
  as_root=''
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "$script: not root and no sudo; have an administrator run: apt-get install$missing" >&2
  exit 1
fi

echo "$script: installing$missing"
# the variable goes through env: sudo drops what it does not know
# shellcheck disable=SC2086 # lists of words
{
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing </dev/null
}
