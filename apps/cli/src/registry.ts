import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { WorkspaceError } from '@ws/core'

import { UsageError } from './errors.ts'

export interface Entry {
  /** The process of `ws` itself. All its commands end with this process. */
  readonly pid: number
  readonly kind: 'exec' | 'session'
  readonly command: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

interface Stored extends Entry {
  /** The start time, which distinguishes the process from a later process with the same number. */
  readonly startTime: string
}

const longest = 4096

/**
 * The directory of entries: `ws` in the login session's runtime directory.
 * Without a session, as in containers: a temporary directory with the user's number in its name.
 */
function entriesDirectory(): string {
  const runtime = process.env['XDG_RUNTIME_DIR'] ?? ''
  return runtime.startsWith('/') ? join(runtime, 'ws') : join(tmpdir(), `ws-${process.getuid?.() ?? 0}`)
}

/** The state of the directory. Every user can create this path, so only a private directory of this user is accepted. */
function stateOf(directory: string): 'private' | 'missing' | 'open' {
  const found = lstatSync(directory, { throwIfNoEntry: false })
  if (found === undefined) return 'missing'
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0 ? 'private' : 'open'
}

/** Lists this process until disposal. After a failure, the process runs unlisted. */
export function register(kind: Entry['kind'], command: string): Disposable {
  const nothing = { [Symbol.dispose]() {} }
  try {
    const directory = entriesDirectory()
    const startTime = startTimeOf(process.pid)
    if (stateOf(directory) === 'missing') mkdirSync(directory, { mode: 0o700 })
    if (stateOf(directory) !== 'private' || startTime === undefined) return nothing
    const path = join(directory, `${process.pid}.json`)
    const entry: Stored = {
      pid: process.pid,
      kind,
      command: command.slice(0, longest),
      startedAt: Date.now(),
      startTime,
    }
    rmSync(path, { force: true })
    writeFileSync(path, JSON.stringify(entry), { mode: 0o600, flag: 'wx' })
    const remove = () => rmSync(path, { force: true })
    process.once('exit', remove)
    return {
      [Symbol.dispose]() {
        process.removeListener('exit', remove)
        remove()
      },
    }
  } catch {
    return nothing // without an entry, the process still runs, but is not listed
  }
}

interface Running {
  /** Oldest first. */
  readonly entries: readonly Entry[]
  /** Reasons why entries cannot be read, by process. */
  readonly unreadable: ReadonlyMap<number, WorkspaceError>
}

/** Running processes. Removes entries of killed processes. @throws UsageError if others could write the entries */
export function running(): Running {
  const directory = entriesDirectory()
  const state = stateOf(directory)
  const unreadable = new Map<number, WorkspaceError>()
  if (state === 'missing') return { entries: [], unreadable }
  if (state === 'open') {
    throw new UsageError(
      'the directory that lists running ws is open to other users; set XDG_RUNTIME_DIR to a private directory',
    )
  }
  const entries: Entry[] = []
  for (const name of readdirSync(directory)) {
    if (!/^\d+\.json$/.test(name)) continue
    const path = join(directory, name)
    try {
      const entry = readEntry(path)
      if (entry === undefined) continue
      if (startTimeOf(entry.pid) === entry.startTime) entries.push(entry)
      else rmSync(path, { force: true })
    } catch (error) {
      const { code = 'not an entry' } = error as NodeJS.ErrnoException
      unreadable.set(Number.parseInt(name), unreadableError(name, code))
    }
  }
  return { entries: entries.toSorted((a, b) => a.startedAt - b.startedAt), unreadable }
}

function unreadableError(name: string, why: string): WorkspaceError {
  const reason = `the entry ${name} of a running ws cannot be read (${why}), and is kept`
  const remedy = `remove it from the directory of entries (see \`ws ps --help\`) once the process has ended`
  return new WorkspaceError({ code: 'EIO', operation: 'ps', reason, remedy })
}

/** Returns `undefined` if the process has removed its entry. */
function readEntry(path: string): Stored | undefined {
  const text = unlessGone(() => readFileSync(path, 'utf8'))
  if (text === undefined) return undefined
  const { pid, kind, command, startedAt, startTime } = JSON.parse(text) as Partial<Stored>
  if (
    !Number.isSafeInteger(pid) ||
    pid === undefined ||
    pid < 2 ||
    typeof command !== 'string' ||
    (kind !== 'exec' && kind !== 'session') ||
    typeof startedAt !== 'number' ||
    typeof startTime !== 'string'
  )
    throw new SyntaxError('not an entry')
  return { pid, kind, command, startedAt, startTime }
}

function startTimeOf(pid: number): string | undefined {
  const line = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? []
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

/** Returns `undefined` if the file or the process is gone. Throws other errors, such as a lack of descriptors. */
function unlessGone(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
