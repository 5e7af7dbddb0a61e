/**
 * Keeps rclone, for as long as whoever started it holds descriptor 3 open: when that closes, by whatever death, the mount
 * is detached and rclone is killed. Its cache stays. Arguments: lock file, mount point, `clear` to detach what is mounted
 * there already, then rclone's command line. Prints rclone's process id.
 *
 * The lock is a descriptor that rclone inherits: the kernel gives it back when the last holder is gone, however it went.
 */
export const supervisorScript = `
umask 077
lock=$1 mount=$2 clear=$3
shift 3
exec 9>>"$lock" || exit 73
command -v flock >/dev/null || exit 72
flock -n 9 || exit 75
detach() {
  fusermount3 -uz -- "$mount" 2>/dev/null || fusermount -uz -- "$mount" 2>/dev/null || umount -l -- "$mount" 2>/dev/null
}
[ "$clear" = clear ] && detach
"$@" 1>&2 3<&- &
rclone=$!
echo "$rclone"
exec 1>&-
( exec 9>&-; read -r _ <&3; detach; kill -KILL "$rclone" 2>/dev/null ) &
keeper=$!
exec 3<&-
wait "$rclone"
code=$?
kill -KILL "$keeper" 2>/dev/null
wait "$keeper" 2>/dev/null
exit "$code"
`

/** Exit codes of the script itself. */
export const supervisorExit = { noFlock: 72, noLock: 73, locked: 75 } as const
