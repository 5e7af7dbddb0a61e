import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { asOwner, type Owner } from '@ws/test-fixtures'

/** `exchange`: a directory (or a file) and a link to outside swap their names. `churn`: entries are renamed, deleted, recreated. */
export const raceNames = ['exchange', 'churn'] as const
export type RaceName = (typeof raceNames)[number]

/** The number of the system call that exchanges two names. */
export const renameat2: Partial<Record<NodeJS.Architecture, number>> = { x64: 316, arm64: 276 }

export interface RacerOptions {
  readonly race: RaceName
  /** The scratch directory, laid out by `createArena`. */
  readonly scratch: string
  readonly owner: Owner
  readonly seed: number
  /** Limit of a pause in microseconds. From 1,000 on, each step pauses; below, only some steps do. Default 60. */
  readonly pause?: number
}

/** A second process that changes the tree during the operations, as the owner of the tree. */
export class Racer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  #stopped: Promise<number> | undefined

  private constructor(child: ChildProcess, lines: AsyncIterator<string>) {
    this.#child = child
    this.#lines = lines
  }

  static async start({ race, scratch, owner, seed, pause = 60 }: RacerOptions): Promise<Racer> {
    const call = renameat2[process.arch]
    if (call === undefined) throw new Error(`the number of renameat2 is not known for ${process.arch}`)
    const script = join(import.meta.dirname, 'racers/race.pl')
    const child = spawn('/usr/bin/perl', [script, race, String(call), String(pause), String(seed), scratch], {
      ...asOwner(owner),
      cwd: '/',
      env: {},
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (child.stdout === null) throw new Error('the racer has no output')
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const racer = new Racer(child, lines)
    const first = await lines.next()
    if (first.value === 'started') return racer
    await racer.stop()
    throw new Error('the racer did not start')
  }

  stop(): Promise<number> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<number> {
    const ended =
      this.#child.exitCode === null && this.#child.signalCode === null ? once(this.#child, 'exit') : undefined
    this.#child.kill('SIGTERM')
    const last = await this.#lines.next()
    await ended
    return Number(last.value ?? 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
