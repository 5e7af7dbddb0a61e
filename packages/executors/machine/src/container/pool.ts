import type { WorkspaceError } from '@ws/core'
import { execError } from '@ws/core/executor'

import type { Container } from './container.ts'

/** Containers that are kept for later commands. */
const mostIdle = 2
/** Milliseconds after the last command until names that a container has reserved are released. */
const idleMs = 5_000

interface Kept {
  readonly key: string
  readonly starting: Promise<Container>
  container?: Container
  users: number
  timer?: NodeJS.Timeout | undefined
}

/** A container in use by one command. */
export interface Lease {
  readonly container: Container
  /** May be called twice. */
  release(): void
}

/** The containers of one workspace: one for each key. A changed plan has another key, and running commands keep their container. */
export class Pool {
  /** In the order of their last use. */
  #kept: Kept[] = []
  #isClosed = false

  /** The containers in which commands may run, the newest first. */
  get running(): readonly Container[] {
    return this.#kept
      .flatMap(({ container }) => (container === undefined || container.isLost ? [] : [container]))
      .reverse()
  }

  /** @param isAlone no other command may run in the container at the same time */
  async take(
    key: string,
    start: () => Promise<Container>,
    { isAlone, isBrief }: { readonly isAlone: boolean; readonly isBrief: boolean },
  ): Promise<Lease> {
    if (this.#isClosed) throw closed()
    this.#kept = this.#kept.filter((one) => one.container?.isLost !== true)
    const known = this.#kept.find((one) => one.key === key && !(isAlone && one.users > 0))
    const entry = known ?? this.#add(key, start)
    entry.users++
    clearTimeout(entry.timer)
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      entry.users--
      if (entry.users > 0) return
      this.#kept = [...this.#kept.filter((one) => one !== entry), ...(this.#isClosed ? [] : [entry])]
      if (isBrief) entry.timer = setTimeout(() => this.#drop(entry), idleMs).unref()
      const idle = this.#kept.filter(({ users }) => users === 0)
      for (const one of idle.slice(0, Math.max(0, idle.length - mostIdle))) this.#drop(one)
    }
    try {
      return { container: await entry.starting, release }
    } catch (error) {
      this.#kept = this.#kept.filter((one) => one !== entry)
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const kept = this.#kept.splice(0)
    for (const { timer } of kept) clearTimeout(timer)
    const end = async ({ starting }: Kept) => (await starting.catch(() => undefined))?.close() // its command has reported the failure
    await Promise.all(kept.map(end))
  }

  #add(key: string, start: () => Promise<Container>): Kept {
    const entry: Kept = { key, starting: start(), users: 0 }
    entry.starting.then((container) => (entry.container = container)).catch(() => undefined) // the caller gets it
    this.#kept.push(entry)
    return entry
  }

  #drop(entry: Kept): void {
    if (entry.users > 0) return
    this.#kept = this.#kept.filter((one) => one !== entry)
    void entry.container?.close()
  }
}

function closed(): WorkspaceError {
  return execError('ECLOSED', 'the workspace has been closed')
}
