import type { Owner } from '@ws/core/adapter'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { StartGuard } from '../processes/start-guard.ts'
import type { Layout } from '../view/layout.ts'
import { keyOf } from './key.ts'
import { launchSupervisor } from './launch.ts'
import type { Supervisor } from './supervisor.ts'

export interface WarmPoolOptions {
  readonly owner: Owner
  readonly guard: () => StartGuard
  /** Milliseconds after which a silent supervisor is treated as lost. Default 10,000. */
  readonly patience?: number | undefined
  /** Milliseconds without a command until a supervisor ends. Default 60,000. */
  readonly idle?: number | undefined
}

const mostSupervisors = 3
/** Limit of supervisors of this process. A supervisor with its spares is ten waiting processes. */
const mostInProcess = 16
/** After this many failures in a row, commands start cold for a minute. */
const mostFailures = 3
const restAfterFailures = 60_000

/** All supervisors of this process, each with the function that ends it. The supervisor used last is the last entry. */
const living = new Map<Supervisor, () => void>()

interface Entry {
  readonly supervisor: Supervisor
  timer: NodeJS.Timeout
}

export class WarmPool {
  readonly #options: WarmPoolOptions
  readonly #entries = new Map<string, Entry>()
  readonly #closing = new Set<Promise<void>>()
  readonly #retired = new Set<Supervisor>()
  #problem: string | undefined = 'no command was tried'
  #failures = 0
  #lastFailure = 0
  #isCold = false
  #isClosed = false

  constructor(options: WarmPoolOptions) {
    this.#options = options
  }

  /** The reason why the last command did not start warm, for the operator. */
  get problem(): string | undefined {
    return this.#problem
  }

  get patience(): number {
    return this.#options.patience ?? 10_000
  }

  /** @returns `undefined` for a cold start */
  find(command: SandboxCommand, kept: Layout): Supervisor | undefined {
    if (this.#isClosed) return undefined
    if (this.#failures >= mostFailures && performance.now() - this.#lastFailure < restAfterFailures) return undefined
    if (this.#isCold) {
      this.#isCold = false
      return undefined
    }
    const key = keyOf(command, kept)
    const known = this.#entries.get(key)
    if (known !== undefined && !known.supervisor.isLost) {
      this.#use(key, known)
      known.timer.refresh()
      return known.supervisor
    }
    if (known !== undefined) this.#end(key, known)
    if (!this.#makeRoom()) return undefined
    const { owner, guard } = this.#options
    const supervisor = launchSupervisor({ command, kept, owner, guard: guard(), patience: this.patience })
    const entry = { supervisor, timer: setTimeout(() => this.#rest(key), this.#options.idle ?? 60_000).unref() }
    this.#use(key, entry)
    return supervisor
  }

  #use(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    living.delete(entry.supervisor)
    living.set(entry.supervisor, () => this.#end(key, entry))
  }

  /** Records that a warm start failed. The command starts cold. */
  failed(problem: string): void {
    this.#problem = problem
    this.#failures++
    this.#lastFailure = performance.now()
  }

  /** Ends a failed supervisor. The next command starts cold. */
  lose(supervisor: Supervisor): void {
    for (const [key, entry] of this.#entries) if (entry.supervisor === supervisor) this.#end(key, entry)
    this.failed('the sandbox that makes others ended, or did not answer')
    this.#isCold = true
  }

  /** Replaces a supervisor after a change of the plan's mounts. Running commands continue; later commands get another supervisor. */
  retire(supervisor: Supervisor): void {
    for (const [key, entry] of this.#entries) {
      if (entry.supervisor !== supervisor) continue
      clearTimeout(entry.timer)
      this.#entries.delete(key)
    }
    living.delete(supervisor)
    supervisor.retire()
    if (!supervisor.isLost) this.#retired.add(supervisor)
  }

  served(): void {
    this.#failures = 0
    this.#problem = undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const [key, entry] of this.#entries) this.#end(key, entry)
    await Promise.all([...this.#closing, ...[...this.#retired].map((supervisor) => supervisor.close())])
  }

  /** Ends unused supervisors beyond the limits. @returns false if all supervisors are busy */
  #makeRoom(): boolean {
    for (const supervisor of this.#retired) if (supervisor.isLost) this.#retired.delete(supervisor)
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size < mostSupervisors) break
      if (entry.supervisor.busy === 0) this.#end(key, entry)
    }
    for (const [supervisor, end] of living) {
      if (living.size < mostInProcess) break
      if (supervisor.busy === 0) end()
    }
    return this.#entries.size < mostSupervisors && living.size < mostInProcess
  }

  #rest(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    if (entry.supervisor.busy > 0) entry.timer.refresh()
    else this.#end(key, entry)
  }

  #end(key: string, { supervisor, timer }: Entry): void {
    clearTimeout(timer)
    this.#entries.delete(key)
    living.delete(supervisor)
    const closing = supervisor.close()
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }
}
