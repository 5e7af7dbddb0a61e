import { WorkspaceError } from '@ws/core'

import { caseError, foldId } from '../layout/ids.ts'
import type { OpenThread } from './thread.ts'

export interface ThreadKey {
  readonly threadId: string
  readonly userId: string
  readonly ticketId: string | undefined
}

interface Entry extends ThreadKey {
  readonly opening: Promise<OpenThread>
  users: number
  idleSince: number
  timer: NodeJS.Timeout | undefined
  isStuck: boolean
}

/** Milliseconds until a failed flush is tried again, even without a caller. */
const retryMs = 10_000

export interface PoolOptions {
  readonly idleTimeout: number
  readonly maxOpen: number
}

export class Pool {
  readonly #options: PoolOptions
  readonly #entries = new Map<string, Entry>()
  readonly #closing = new Map<string, Promise<unknown>>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Uses a thread, which is opened once for all callers. @throws WorkspaceError `EBUSY` for another user or ticket, or without room */
  async use(
    key: ThreadKey,
    open: (onLost: (ended: Promise<void>) => void) => Promise<OpenThread>,
  ): Promise<OpenThread> {
    const name = foldId(key.threadId)
    await this.#closing.get(name)?.catch(() => undefined) // the caller that closes the thread receives the error
    const known = this.#entries.get(name)
    if (known?.isStuck === true) {
      await this.#close(known) // throws the reason why the thread still cannot be flushed
      return this.use(key, open)
    }
    if (known !== undefined) {
      refuseOther(known, key)
      clearTimeout(known.timer)
      known.users += 1
      return known.opening.catch((error: unknown) => {
        known.users -= 1
        throw error
      })
    }
    if (this.#isFull) {
      await this.#makeRoom()
      return this.use(key, open)
    }
    const forget = (): void => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name)
    }
    const onLost = (ended: Promise<void>): void => {
      clearTimeout(entry.timer)
      forget()
      this.#wait(name, ended) // the thread's commands end before the thread is opened again
    }
    const entry: Entry = { ...key, opening: open(onLost), users: 1, idleSince: 0, timer: undefined, isStuck: false }
    this.#entries.set(name, entry)
    entry.opening.catch(forget)
    return entry.opening
  }

  async leave(threadId: string, thread: OpenThread): Promise<void> {
    const entry = this.#entries.get(foldId(threadId))
    // a thread whose lease was lost is already closed
    if (entry === undefined || (await entry.opening.catch(() => undefined)) !== thread) return
    if (entry.isStuck) return this.#close(entry)
    entry.users -= 1
    if (entry.users > 0) return
    entry.idleSince = performance.now()
    if (this.#options.idleTimeout === 0) return this.#close(entry)
    // after a failed flush, `#close` keeps the thread open and tries again
    entry.timer = setTimeout(() => void this.#close(entry).catch(() => undefined), this.#options.idleTimeout)
    entry.timer.unref()
  }

  async evict(threadId: string): Promise<boolean> {
    const name = foldId(threadId)
    await this.#closing.get(name)?.catch(() => undefined) // the caller that closes the thread receives the error
    const entry = this.#entries.get(name)
    if (entry === undefined) return true
    if (entry.users > 0) return false
    await this.#close(entry)
    return true
  }

  /** Closes all threads. Returns an error that did not prevent closing a thread. @throws WorkspaceError if a thread keeps its lease */
  async close(): Promise<Error | undefined> {
    const entries = [...this.#entries.values()]
    const ends = await Promise.allSettled(entries.map((entry) => this.#close(entry)))
    await Promise.allSettled(this.#closing.values())
    const failures = ends.flatMap((end, index) =>
      end.status === 'rejected' ? [{ reason: end.reason as unknown, isStuck: entries[index]?.isStuck === true }] : [],
    )
    const stuck = failures.find(({ isStuck }) => isStuck)
    if (stuck !== undefined) throw stuck.reason
    return failures[0]?.reason as Error | undefined
  }

  /** True if no thread can be opened. Closing threads count too: they still use memory and a lease. */
  get #isFull(): boolean {
    return new Set([...this.#entries.keys(), ...this.#closing.keys()]).size >= this.#options.maxOpen
  }

  /** Closes an unused thread, or waits until a closing thread has closed. @throws WorkspaceError `EBUSY` where all threads are in use */
  async #makeRoom(): Promise<void> {
    const age = ({ isStuck, idleSince }: Entry): number => (isStuck ? Number.POSITIVE_INFINITY : idleSince)
    const unused = [...this.#entries.values()].filter(({ users }) => users === 0)
    let failure: Error | undefined
    for (const entry of unused.sort((one, other) => (age(one) < age(other) ? -1 : 1))) {
      try {
        return await this.#close(entry)
      } catch (error) {
        if (!entry.isStuck) return
        failure ??= error as Error
      }
    }
    if (this.#closing.size === 0) throw failure ?? fullError(this.#options.maxOpen)
    await Promise.race([...this.#closing.values()].map((done) => done.catch(() => undefined))) // only the freed place matters here
  }

  #close(entry: Entry): Promise<void> {
    const name = foldId(entry.threadId)
    clearTimeout(entry.timer)
    if (this.#entries.get(name) === entry) this.#entries.delete(name)
    const done = entry.opening.then(async (thread) => {
      try {
        await thread.close()
      } finally {
        if (thread.isUnflushed) this.#keep(entry)
      }
    })
    this.#wait(name, done)
    return done
  }

  #keep(entry: Entry): void {
    entry.isStuck = true
    entry.users = 0
    this.#entries.set(foldId(entry.threadId), entry)
    entry.timer = setTimeout(() => void this.#close(entry).catch(() => undefined), retryMs) // `#close` keeps the thread, and tries again
    entry.timer.unref()
  }

  #wait(name: string, done: Promise<unknown>): void {
    this.#closing.set(name, done)
    const forget = (): void => {
      if (this.#closing.get(name) === done) this.#closing.delete(name)
    }
    done.then(forget, forget)
  }
}

function refuseOther(known: ThreadKey, { threadId, userId, ticketId }: ThreadKey): void {
  if (known.threadId !== threadId) throw caseError('openThread', 'thread', known.threadId)
  if (known.userId === userId && known.ticketId === ticketId) return
  throw new WorkspaceError({
    code: 'EBUSY',
    operation: 'openThread',
    path: threadId,
    reason: 'is open for another user or ticket',
    remedy: 'wait until it is closed',
  })
}

function fullError(maxOpen: number): WorkspaceError {
  return new WorkspaceError({
    code: 'EBUSY',
    operation: 'openThread',
    reason: `${maxOpen} threads are in use`,
    remedy: 'close one, or raise `maxOpen`',
  })
}
