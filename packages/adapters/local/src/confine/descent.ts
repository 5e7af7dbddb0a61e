import { identityOf } from '../host/calls.ts'
import { type Handle, openChild, release, statusOf } from './handle.ts'
import type { Task } from './task.ts'

/** Limit of directories that a descent keeps open at once. */
export const mostHeld = 32

/** The kernel's name for the parent directory. */
const above = '..'

/**
 * The directories on the way down, each one component below the last. Distant directories are closed, and reopened from below.
 * Device and inode must then be the same, so no exchange leads outside.
 */
export class Descent {
  readonly #task: Task
  readonly #places: (Handle | string)[] = []
  readonly #start: Handle

  /** @param start the parent of the first directory. The caller releases it */
  constructor(task: Task, start: Handle) {
    this.#task = task
    this.#start = start
  }

  get last(): Handle {
    const last = this.#places.at(-1)
    return last === undefined || typeof last === 'string' ? this.#start : last
  }

  /** Adds a directory. The descent releases the handle. */
  async enter(handle: Handle): Promise<void> {
    const index = this.#places.push(handle) - 1 - mostHeld
    const far = this.#places[index]
    // Without `/proc`, no descriptor is open.
    if (far === undefined || typeof far === 'string' || far.fd < 0) return
    this.#places[index] = identityOf(await statusOf(this.#task, far))
    await release(this.#task, far)
  }

  /** Goes up by one directory. @throws `EAGAIN` if the directory above is no longer the same */
  async leave(): Promise<void> {
    const below = this.#places.pop()
    if (below === undefined || typeof below === 'string') return
    try {
      const place = this.#places.at(-1)
      if (typeof place === 'string') this.#places.splice(-1, 1, await this.#goUp(below, place))
    } finally {
      await release(this.#task, below)
    }
  }

  async #goUp(below: Handle, identity: string): Promise<Handle> {
    const handle = await openChild(this.#task, below, above, { directory: true })
    if (identityOf(await statusOf(this.#task, handle)) === identity) return handle
    await release(this.#task, handle)
    throw Object.assign(new Error('exchanged'), { code: 'EAGAIN', syscall: 'open' })
  }

  async end(): Promise<void> {
    for (const place of this.#places.splice(0)) if (typeof place !== 'string') await release(this.#task, place)
  }
}
