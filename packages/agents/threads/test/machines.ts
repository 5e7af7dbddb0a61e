import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import type { S3Credentials } from '@ws/adapter-s3'
import { createScratchDirectory, ordinaryOwner, until } from '@ws/test-fixtures'
import { startFaultProxy, type FaultProxy, type S3Server } from '@ws/test-fixtures/s3'
import { onTestFinished } from 'vitest'

export interface Task {
  readonly connection: {
    readonly endpoint: string
    readonly region: string
    readonly credentials: S3Credentials
    readonly bucket: string
  }
  /** Its name in leases and in the lines that it writes. */
  readonly name: string
  readonly other: 'takes its turns' | 'may be away'
  readonly until: number
  /** Milliseconds. */
  readonly ttl: number
  /** The store is a mount; leases lie in the bucket, by its API. */
  readonly mount?: { readonly directory: string; readonly owner: { uid: number; gid: number } | undefined } | undefined
}

export type MachineEvent =
  | { readonly type: 'ready' | 'acquired' | 'open' | 'lost' }
  | { readonly type: 'edited'; readonly token: string }
  | { readonly type: 'failed'; readonly code: string }
  | { readonly type: 'locked-out'; readonly ms: number }

export type TimedEvent = MachineEvent & { readonly at: number }

const script = join(import.meta.dirname, 'take-turns.ts')

/** As root each machine has process ids of its own, so that it cannot see the end of the other's process. */
const isolates = process.getuid?.() === 0

/** A machine: its own way to the store, its own state, and one process at a time, which can be killed and stopped. */
export class Machine {
  readonly proxy: FaultProxy
  readonly events: TimedEvent[] = []
  readonly #task: Task
  readonly #outer: ChildProcess | undefined
  readonly #scratch: string
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #heard = Promise.withResolvers<void>()
  #killed = false

  private constructor(proxy: FaultProxy, task: Task, scratch: string) {
    this.proxy = proxy
    this.#task = task
    this.#scratch = scratch
    if (!isolates) return
    const inner = ['--pid', '--fork', '--mount-proc', '--kill-child', 'sleep', 'infinity']
    this.#outer = spawn('unshare', inner, { stdio: 'ignore' })
  }

  static async open(
    server: S3Server,
    task: Omit<Task, 'connection' | 'mount'>,
    kind: 'api' | 'mount',
  ): Promise<Machine> {
    const scratch = await createScratchDirectory({ prefix: 'ws-machine-' })
    const proxy = await startFaultProxy(server)
    const { endpoint, region, credentials, bucket } = proxy
    const mount = kind === 'mount' ? { directory: scratch.path, owner: ordinaryOwner() } : undefined
    const connection = { endpoint, region, credentials, bucket }
    const machine = new Machine(proxy, { ...task, connection, mount }, scratch.path)
    onTestFinished(async () => {
      await machine.#end()
      await proxy.close()
      await scratch.remove()
    })
    // a process that comes earlier finds no place, or the /proc of this machine
    const isThere = (inner = childOf(machine.#outer?.pid)): boolean =>
      inner !== undefined && readFileSync(`/proc/${inner}/comm`, 'utf8') === 'sleep\n'
    if (isolates) await until(isThere)
    return machine
  }

  get name(): string {
    return this.#task.name
  }

  start(): void {
    this.#killed = false
    const node = [process.execPath, '--conditions=@ws/source', script, JSON.stringify(this.#task)]
    const enter = ['nsenter', '--target', String(childOf(this.#outer?.pid)), '--pid', '--mount']
    const [program = '', ...rest] = isolates ? [...enter, ...node] : node
    const env = { ...process.env, XDG_STATE_HOME: join(this.#scratch, 'state') }
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'], env })
    this.#child = child
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.events.push(JSON.parse(line) as TimedEvent)
      this.#heard.resolve()
      this.#heard = Promise.withResolvers()
    })
    this.#ended = once(child, 'exit')
  }

  /** Waits for an event of this type that comes from now on. @throws Error where the process ends before */
  async next(type: MachineEvent['type']): Promise<void> {
    for (let from = this.events.length; ; ) {
      const ended = await Promise.race([this.#heard.promise.then(() => false), this.#ended.then(() => true)])
      if (this.events.slice(from).some((event) => event.type === type)) return
      from = this.events.length
      if (ended) throw this.#ending()
    }
  }

  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const pid = isolates ? childOf(this.#child?.pid) : this.#child?.pid
    if (pid !== undefined) process.kill(pid, signal)
    // nsenter stops itself with its child
    if (isolates && signal === 'SIGCONT') this.#child?.kill(signal)
    this.#killed ||= signal === 'SIGKILL'
  }

  /** Waits for the end of its process. @throws Error where that was not by itself */
  async end(): Promise<void> {
    await this.#ended
    if (this.#child?.exitCode !== 0 && !this.#killed) throw this.#ending()
  }

  #ending(): Error {
    const { exitCode, signalCode } = this.#child ?? {}
    const last = this.events.slice(-5).map((event) => JSON.stringify(event))
    return new Error(`${this.name} ended with ${exitCode ?? signalCode}, after ${last.join(', ')}`)
  }

  async #end(): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) {
      if (!isolates) this.#child.kill('SIGKILL')
      this.#outer?.kill('SIGKILL')
      await this.#ended
    }
    this.#outer?.kill('SIGKILL')
  }
}

/** The process that another one has started, by the ids of this machine. */
function childOf(pid: number | undefined): number | undefined {
  const text = pid === undefined ? '' : readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text === '' ? undefined : Number(text.split(' ')[0])
}
