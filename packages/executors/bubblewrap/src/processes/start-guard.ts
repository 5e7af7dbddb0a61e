import type { ChildProcess } from 'node:child_process'
import { closeSync, writeSync } from 'node:fs'

import { Descriptors, Processes } from '@ws/sandbox'

/**
 * Ends what `--die-with-parent` cannot: between making its child and letting it go, bubblewrap can be killed (because
 * this process was) without the child taking notice. It would wait for ever, and never run the command.
 *
 * Until it is let go, that child is in the process group that this process made for bubblewrap, and under which it is
 * known here by number. So exactly those groups are ended whose start was not over when this process ended.
 */
export interface StartGuard {
  /** Notes a process group as being started; call the result when that is over. */
  starting(group: number): () => void
  /** Ends the guard. */
  close(): void
}

// Reads a word: `close`, or nothing at all, which is the death of this process. Until then it sleeps. Running work is
// noted in a file that it looks at only then, one line each, blank when over. A group's number is not given to another
// process while a member lives, and a note here is milliseconds old.
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

/** The guard of this process: started for its first user, ended soon after its last. */
export function useStartGuard(): StartGuard {
  const { value, release } = shared.use()
  return { starting: value.starting, close: release }
}

/**
 * A small shell that outlives this process by a moment. It keeps no event loop alive.
 *
 * @throws the system's error, where this process has too few descriptors left
 */
function startGuard(): StartGuard {
  const notes = Descriptors.openPrivateFile()
  const free: number[] = []
  let lines = 0
  let closed = false
  const note = (line: number, text: string) => {
    // Its number may be another file's by then.
    if (!closed) writeSync(notes, `${text.padEnd(lineBytes - 1)}\n`, line * lineBytes)
  }
  // Its first page is made now: later there may be no room for it.
  note(0, '')
  const child = startScript(notes)
  // Without a guard, the worst is a process that waits.
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
    // Not the master of a terminal, which a library leaves open to children.
    const { slots } = Descriptors.openStdio({ argv: [], extraFds: new Map([[3, notes]]) })
    const stdio = ['pipe' as const, 'ignore' as const, 'ignore' as const, ...slots.slice(3)]
    return Processes.spawnChild('/bin/sh', ['-c', script], { stdio, env: {}, cwd: '/', detached: true })
  } catch (error) {
    closeSync(notes)
    throw error
  }
}
