import { spawn } from 'node:child_process'

/**
 * Ends what `--die-with-parent` cannot: between making its child and letting it go, bubblewrap can be killed (because
 * this process was) without the child taking notice. It would wait for ever, and never run the command.
 *
 * Until it is let go, that child is in the process group that this process made for bubblewrap, and under which it is
 * known here by number. So exactly those groups are ended whose start was not over when this process ended.
 */
export interface Warden {
  /** Notes a process group as being started; call the result when that is over. */
  starting(group: number): () => void
  /** Ends the warden. */
  close(): void
}

// Lines: `+ GROUP`, `- GROUP`, `close`. An end of file before `close` is the death of this process. A group's number is
// not given to another process while a member lives, and what is noted here is milliseconds old.
const script = `
groups=' '
while read -r word group; do
  case $word in
    close) exit 0 ;;
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do
  case $group in
    *[!0-9]* | 0* | 1 | ?) continue ;;
  esac
  kill -9 "-$group"
done`

let shared: { readonly warden: Warden; users: number } | undefined

/** The warden of this process: started for its first user, ended by its last. Each calls `close` once. */
export function useWarden(): Warden {
  const current = (shared ??= { warden: startWarden(), users: 0 })
  current.users++
  return {
    starting: current.warden.starting,
    close() {
      if (--current.users > 0) return
      shared = undefined
      current.warden.close()
    },
  }
}

/** A small shell that outlives this process by a moment. It keeps no event loop alive. */
function startWarden(): Warden {
  const child = spawn('/bin/sh', ['-c', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    cwd: '/',
    detached: true,
  })
  // Without a warden, the worst is a process that waits.
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  child.unref()
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return {
    starting(group) {
      child.stdin.write(`+ ${group}\n`)
      return () => void child.stdin.write(`- ${group}\n`)
    },
    close: () => void child.stdin.end('close\n'),
  }
}
