import { howToInstall } from '../run/system.ts'
import { randomUUID } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { getSystemErrorName } from 'node:util'

import { perl, startPerlHelper } from '../run/perl-helper.ts'

import { keeperScript } from './keeper-script.ts'
import { reservedDirectory, stateDirectoryProblem, type StateProblem } from './state-directory.ts'
import type { Watch, WatchRequest } from './watch.ts'

export type ReservationFailure =
  /** An entry already has the name, blocks the path, or was moved. */
  | 'changed'
  /** Another process has locked the journal. */
  | 'busy'
  /** The rights of this user, or the file system, do not allow the reservation. */
  | 'forbidden'
  | 'sealed'
  /** No space, quota, descriptors or memory are left. The name of the error says which. */
  | 'short'
  /** The file system cannot rename without replacing, or does not keep modes and times. */
  | 'unsupported'
  | 'unwritable'
  | 'gone'

export type ReservationAnswer =
  | { readonly placed: true; readonly identity: string }
  | { readonly placed: false; readonly failure: ReservationFailure; readonly native?: unknown }

export interface ReservationRequest {
  readonly id: number
  /** Canonical host path. */
  readonly root: string
  /** The path below `root`, without a leading slash. */
  readonly path: string
  /** Reserve the name with a file of this content, instead of an empty directory. */
  readonly content?: string | undefined
  /** The owner of the placeholder. Ignored if this process cannot change owners. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
}

/** Reserves names and watches mounts, by a helper process. Keeps this process alive only during a request. */
export interface Keeper {
  place(request: ReservationRequest): Promise<ReservationAnswer>
  drop(id: number): Promise<void>
  sweep(): Promise<void>
  watch(request: WatchRequest): Watch
  readonly isGone: boolean
  end(): void
}

const numbers: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: {
    ...{ close: 3, fchmod: 91, fchown: 93, clock_gettime: 228, openat: 257, mkdirat: 258, unlinkat: 263 },
    ...{ utimensat: 280, renameat2: 316, statx: 332, ioctl: 16, fcntl: 72, mount: 165, unshare: 272, setns: 308 },
  },
  arm64: {
    ...{ mkdirat: 34, unlinkat: 35, fchmod: 52, fchown: 55, openat: 56, close: 57, utimensat: 88 },
    ...{ clock_gettime: 113, renameat2: 276, statx: 291, ioctl: 29, fcntl: 25, mount: 40, unshare: 97, setns: 268 },
  },
}
/** Call numbers that are the same on every architecture. */
const common = {
  ...{ pidfd_send_signal: 424, open_tree: 428, move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432 },
  ...{ pidfd_open: 434, openat2: 437, mount_setattr: 442 },
}

const pathOnly = 0o10000000
const closeOnExec = 0o2000000

/** Returns why no keeper can start here; `undefined` if a keeper can start. */
export function keeperProblem(): StateProblem | undefined {
  if (numbers[process.arch] === undefined)
    return { reason: `there is no system call table for ${process.arch}`, remedy: 'run on x64 or arm64' }
  if (!existsSync(perl)) return { reason: 'perl is not installed', remedy: `\`${howToInstall('perl-base')}\`` }
  return stateDirectoryProblem()
}

/** Returns `undefined` if no keeper can start. Without a state directory ({@link stateDirectoryProblem}), a keeper can only watch. */
export function startKeeper(): Keeper | undefined {
  if (numbers[process.arch] === undefined || !existsSync(perl)) return undefined
  const { child, hold, release } = startPerlHelper(keeperScript())
  const { stdin, stdout } = child
  const waiting = new Map<string, (answer: readonly string[]) => void>()
  const watches = new Map<string, WatchRequest & { readonly onCovered: () => void }>()
  let gone = false
  let native: unknown
  let text = ''
  let lastId = 0

  const end = () => {
    if (gone) return
    gone = true
    for (const resolve of [...waiting.values()]) resolve(['gone'])
    for (const { onLost, onCovered } of [...watches.values()]) {
      onLost(undefined)
      onCovered()
    }
    watches.clear()
  }
  const answer = (line: string) => {
    const [what = '', id = '', ...rest] = line.split(' ')
    const watch = watches.get(id)
    if (what === 'lost') watch?.onLost(rest[0] === undefined ? undefined : Number(rest[0]))
    if (what === 'exposed') watch?.onExposed(rest.slice(1).map(Number), Number(rest[0]))
    if (what === 'covered') watch?.onCovered()
    if (what === 'lost' || what === 'ended') {
      watch?.onCovered()
      watches.delete(id)
      waiting.get(`ended ${id}`)?.(rest)
    } else waiting.get(`${what} ${id}`)?.(rest)
  }
  child.on('error', (error) => {
    native = error
    end()
  })
  // Not `exit`, which can come before the last answers are read.
  child.on('close', end)
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
      answer(text.slice(0, at))
      text = text.slice(at + 1)
    }
  })

  /** Sends several lines together. The keeper locks the journal once for all of them. */
  const send = (...words: readonly (string | number)[]) => {
    if (gone) return
    stdin.cork()
    stdin.write(`${words.join(' ')}\n`)
    process.nextTick(() => stdin.uncork())
  }
  const ask = async (key: string, ...words: readonly (string | number)[]): Promise<readonly string[]> => {
    if (gone) return ['gone']
    hold()
    try {
      return await new Promise((resolve) => {
        waiting.set(key, resolve)
        send(...words)
      })
    } finally {
      waiting.delete(key)
      if (waiting.size === 0) release()
    }
  }
  send(keeperSettings(reservedDirectory()))
  return {
    async place({ id, root, path, owner, content }) {
      const key = `placed ${id}`
      const [word = 'gone', detail = ''] = await ask(
        key,
        'place',
        id,
        owner?.uid ?? -1,
        owner?.gid ?? -1,
        hex(root),
        hex(path),
        ...(content === undefined ? [] : [`=${hex(content)}`]),
      )
      if (word === 'placed') return { placed: true, identity: detail }
      const failure = word as ReservationFailure
      if (failure === 'gone') return { placed: false, failure, native }
      return { placed: false, failure, native: failure === 'short' ? systemError(Number(detail)) : undefined }
    },
    async drop(id) {
      await ask(`dropped ${id}`, 'drop', id)
    },
    async sweep() {
      const id = --lastId
      await ask(`swept ${id}`, 'sweep', id)
    },
    watch(request) {
      const { pid, startTime, owner, ends, aliases, covers } = request
      const id = String(--lastId)
      if (gone) {
        request.onLost(undefined)
        return { covered: Promise.resolve(), end: async () => undefined }
      }
      const { promise: covered, resolve: onCovered } = Promise.withResolvers<void>()
      watches.set(id, { ...request, onCovered })
      const places = aliases.map((alias) => hex(alias)).join()
      const parts = covers.map((one) => `${one.isLate ? '+' : ''}${letters[one.kind]}:${hex(one.point)}`)
      send('watch', id, pid, startTime, owner.uid, owner.gid, ends ? 'end' : 'cover', `=${places}`, ...parts)
      return {
        covered,
        async end() {
          if (watches.has(id)) await ask(`ended ${id}`, 'unwatch', id)
        },
      }
    },
    get isGone() {
      return gone
    },
    end: () => void stdin.end(),
  }
}

function systemError(number: number): Error {
  const code = getSystemErrorName(-number)
  return Object.assign(new Error(`the keeper of reserved names failed (${code})`), { code })
}

/** Returns the first line for a keeper: its directory, its mark, and numbers of system calls. */
export function keeperSettings(directory: string): string {
  const calls = numbers[process.arch] ?? {}
  const flags = pathOnly | closeOnExec | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const named = Object.entries({ ...calls, ...common }).map(([name, number]) => `${name}=${number}`)
  return [hex(directory), `${process.pid}-${randomUUID()}`, flags, ...named].join(' ')
}

const letters = { file: 'f', directory: 'd', empty: 'e', 'read-only': 'r', writable: 'w', other: 'x' }

function hex(text: string): string {
  return Buffer.from(text).toString('hex')
}
