/**
 * Shell functions without single quotes. `abort` breaks the connection of the mount at a path. The kernel may give an ended mount's
 * number to another mount, so the mount is checked again once the connection is open. An open connection always belongs to the
 * same mount.
 */
const abortFunctions = `
connection() {
  number=
  while read -r _ _ device _ point rest; do
    case $rest in *" - fuse.rclone "*) [ "$(printf %b "$point")" = "$1" ] && number=\${device#*:} ;; esac
  done </proc/self/mountinfo
}
abort() {
  connection "$1"
  opened=$number
  [ -n "$opened" ] || return 0
  exec 8>"/sys/fs/fuse/connections/$opened/abort"
  connection "$1"
  [ "$number" != "$opened" ] || echo 1 >&8
}
`

/**
 * A shell function that breaks the connection between the kernel and the process that serves the mount at a path. Every thread
 * that waits for the mount fails, also rclone's own threads. Detaching does not do that, nor does killing rclone: a thread of
 * rclone may wait in the kernel for a thread that waits for rclone.
 *
 * If `fusectl` is not mounted, root mounts it just for this call.
 */
export const forceFunction = `${abortFunctions}
force() {
  ( abort "$1" ) 2>/dev/null && return 0
  unshare -m -- sh -c '${abortFunctions}
  mount -t fusectl none /sys/fs/fuse/connections && abort "$1"' sh "$1" 2>/dev/null && return 0
  umount -f -c -- "$1" 2>/dev/null
}
`

/**
 * Keeps rclone running until the process that started it ends. Then the script detaches the mount and kills rclone. The cache
 * remains. Two events report the end of that process. Descriptor 3 closes, except while a thread of a killed process waits for the mount.
 * Where `setpriv` works, the end of the main thread also sends TERM. Arguments: lock file, mount point, `clear` to detach an
 * earlier mount, then rclone's command line. Prints rclone's process id.
 *
 * The lock is a descriptor that rclone inherits. The kernel releases the lock when the last process with the descriptor has ended.
 * The shell that detaches the mount lacks the descriptor, so the first shell waits for this shell in spite of signals. Otherwise the
 * next process could mount at the same place, and the detaching shell would remove that mount.
 */
export const supervisorScript = `
umask 077
lock=$1 mount=$2 clear=$3
shift 3
exec 9>>"$lock" || exit 73
command -v flock >/dev/null || exit 72
flock -n 9 || exit 75
${forceFunction}
detach() {
  force "$mount"
  fusermount3 -uz -- "$mount" 2>/dev/null || fusermount -uz -- "$mount" 2>/dev/null || umount -l -- "$mount" 2>/dev/null
}
[ "$clear" = clear ] && detach
asked=
trap asked=1 TERM
( trap - TERM; exec "$@" 1>&2 3<&- ) &
rclone=$!
echo "$rclone"
exec 1>&-
end() { kill -KILL "$rclone" 2>/dev/null; detach; }
( trap - TERM; exec 9>&-; read -r _ <&3; trap '' TERM; end ) &
keeper=$!
exec 3<&-
wait "$rclone"
code=$?
trap '' TERM
if [ -n "$asked" ]; then
  end
  wait "$rclone"
  code=$?
fi
kill -TERM "$keeper" 2>/dev/null
wait "$keeper" 2>/dev/null
exit "$code"
`

/** Runs the script in the next argument. If `setpriv` works, the script gets TERM when its parent ends. */
export const guardScript = `
setpriv --pdeathsig TERM true 2>/dev/null && exec setpriv --pdeathsig TERM /bin/sh -c "$@"
exec /bin/sh -c "$@"
`

/** Exit codes of the script itself. */
export const supervisorExit = { noFlock: 72, noLock: 73, locked: 75 } as const
