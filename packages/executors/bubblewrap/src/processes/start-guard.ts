import type { ChildProcess } from 'node:child_process'
import { closeSync, writeSync } from 'node:fs'

import { Descriptors, Processes } from '@ws/sandbox'

/**
 * Covers a gap of `--die-with-parent`: if bubblewrap is killed before it releases its child, the child waits forever.
 * Until its release, the child is in bubblewrap's process group, whose number is known.
 * The guard ends the groups of unfinished starts when this process ends.
 */
export interface StartGuard {
  /** Records a process group. Call the returned function when the start has finished. */
  starting(group: number): () => void
  close(): void
}

// Waits for input. `close` ends the script. The end of file means that the parent has died: the script then kills the recorded groups,
// one a line. The line of a finished start is blank. A group's number is not reused while a member of the group lives.
const script = `
read -r word
[ "$word" = close ] && exit 0
while read -r group; do
  case $group in
    *[!0-9]* | 0* | 1 | ?) continue ;;
  esac
  [ -n "$group" ] && kill -9 "-$group"
done <&3`

const lineBytes = 16

const shared = new Processes.Shared(startGuard)

/** The guard of this process. Starts for its first user, and ends soon after its last user. */
export function useStartGuard(): StartGuard {
  const { value, release } = shared.use()
  return { starting: value.starting, close: release }
}

/**
 * Starts a small shell that briefly outlives this process, and keeps no event loop alive.
 * @throws the system's error for lack of descriptors
 */
function startGuard(): StartGuard {
  const notes = Descriptors.openPrivateFile()
  const free: number[] = []
  let lines = 0
  let closed = false
  const note = (line: number, text: string) => {
    // After the file was closed, the descriptor's number may belong to another file.
    if (!closed) writeSync(notes, `${text.padEnd(lineBytes - 1)}\n`, line * lineBytes)
  }
  // Writes the first page now, because the disk may be full later.
  note(0, '')
  const child = startScript(notes)
  // Without a guard, the worst result is a waiting process.
  child.on('error', () => undefined)
  child.stdin?.on('error', () => undefined)
  child.unref()
  if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return {
    starting(group) {
      const line = free.pop() ?? lines++
      note(line, String(group))
      return () => {
        note(line, '')
        free.push(line)
      }
    },
    close() {
      closed = true
      closeSync(notes)
      child.stdin?.end('close\n')
    },
  }
}

function startScript(notes: number): ChildProcess {
  try {
    // Keep the master of a terminal from the child: a library leaves such descriptors open to children.
    const { slots } = Descriptors.openStdio({ argv: [], extraFds: new Map([[3, notes]]) })
    const stdio = ['pipe' as const, 'ignore' as const, 'ignore' as const, ...slots.slice(3)]
    return Processes.spawnChild('/bin/sh', ['-c', script], { stdio, env: {}, cwd: '/', detached: true })
  } catch (error) {
    closeSync(notes)
    throw error
  }
}
