import { closeSync, fchownSync } from 'node:fs'

import { type PipeHelper, startPipeHelper } from './pipe-helper.ts'
import { Shared } from './shared.ts'

export interface PipePair {
  readonly read: number
  readonly write: number
}

/** Runs the preparation. If it fails, closes the pipes. */
export function withPipes<T>(pairs: readonly (PipePair | undefined)[], prepare: () => T): T {
  try {
    return prepare()
  } catch (error) {
    for (const pair of pairs) if (pair) closePipe(pair)
    throw error
  }
}

/** Takes several pipes; none without `maker`. @throws as `take`, after closing the pipes already taken */
export async function takePipes(
  maker: PipeMaker | undefined,
  count: number,
  owner: Parameters<PipeMaker['take']>[0],
): Promise<(PipePair | undefined)[]> {
  const taken = await Promise.allSettled(Array.from({ length: count }, async () => await maker?.take(owner)))
  const failed = taken.find((one) => one.status === 'rejected')
  if (failed === undefined) return taken.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
  for (const one of taken) if (one.status === 'fulfilled' && one.value !== undefined) closePipe(one.value)
  throw failed.reason
}

/** Returns true for a pair of pipe ends. Checks `read` too, because a byte array also has a `write`. */
export function isPipePair(source: unknown): source is PipePair {
  return typeof source === 'object' && source !== null && 'read' in source && 'write' in source
}

/** Makes pipes that can be opened by name. Node's sockets cannot be opened by name, so `cat /dev/stdin` fails with ENXIO. */
export interface PipeMaker {
  /**
   * Makes a pipe, which the caller closes; `undefined` if no pipe can be made here. `owner` may open it by name.
   * @throws the system's error if no descriptors are left; the next call tries again
   */
  take(owner?: { readonly uid: number; readonly gid: number }): Promise<PipePair | undefined>
  /** Each user calls `close` once. */
  close(): void
}

/** Number of spare pipes. With these, a command need not wait for its two or three pipes. */
const spares = 8
/** With fewer spares, more pipes are made immediately; otherwise at a quiet time, to leave the processor to the running program. */
const fewSpares = 3
/** Milliseconds without a new command that count as a quiet time. */
const quietMs = 50
/** Maximum number of pipes in one request, because the helper also has a limit of descriptors. */
const longestOrder = 32

const shared = new Shared(createMaker)

/** Returns the pipe maker of this process. First pipes are made immediately. Spare pipes are closed soon after the last user. */
export function usePipes(): PipeMaker {
  const { value, release } = shared.use()
  return { take: value.take, close: release }
}

function createMaker(): PipeMaker {
  const ready: PipePair[] = []
  const waiting = new Set<PromiseWithResolvers<PipePair | undefined>>()
  let helper: PipeHelper | undefined
  let filling = false
  let quiet: NodeJS.Timeout | undefined
  /** True if no more pipes will be made: an attempt failed, or no user remains. */
  let over = false

  /** Makes pipes. Waiting callers get a failure. Never rejects. */
  async function fill(): Promise<void> {
    if (filling || over) return
    filling = true
    try {
      for (let missing = lacking(); missing > 0 && !over; missing = lacking()) {
        helper ??= startPipeHelper()
        if (waiting.size > 0) helper.hold()
        const made = await helper.make(Math.min(missing, longestOrder))
        if (made === undefined) over = true
        for (const pair of made ?? []) keep(pair)
      }
    } catch (error) {
      // No descriptors are left: waiting callers get the error. A missing spare pipe does no harm.
      for (const { reject } of waiting) reject(error)
      waiting.clear()
    } finally {
      filling = false
    }
    if (over) releaseAll()
  }

  function lacking(): number {
    return waiting.size + spares - ready.length
  }

  function keep(pair: PipePair): void {
    const [first] = waiting
    if (first === undefined) {
      ready.push(pair)
      return
    }
    waiting.delete(first)
    first.resolve(pair)
  }

  /** Makes spare pipes later, because the caller is about to start a process. */
  function fillLater(): void {
    if (ready.length < fewSpares) setImmediate(() => void fill()).unref()
    else if (quiet === undefined) quiet = setTimeout(() => void fill(), quietMs).unref()
    else quiet.refresh()
  }

  function releaseAll(): void {
    clearTimeout(quiet)
    for (const pair of ready.splice(0)) closePipe(pair)
    for (const { resolve } of waiting) resolve(undefined)
    waiting.clear()
    helper?.end()
    helper = undefined
  }

  function demand(): Promise<PipePair | undefined> {
    const wanted = Promise.withResolvers<PipePair | undefined>()
    if (over) wanted.resolve(undefined)
    else {
      waiting.add(wanted)
      helper?.hold()
      void fill()
    }
    return wanted.promise
  }

  void fill()
  return {
    async take(owner) {
      const pair = ready.shift() ?? (await demand())
      fillLater()
      if (pair !== undefined && owner !== undefined && process.getuid?.() === 0)
        fchownSync(pair.read, owner.uid, owner.gid)
      return pair
    },
    close() {
      over = true
      if (!filling) releaseAll()
    },
  }
}

function closePipe({ read, write }: PipePair): void {
  closeSync(read)
  closeSync(write)
}
