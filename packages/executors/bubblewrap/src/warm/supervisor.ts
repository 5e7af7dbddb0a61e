import { setTimeout as delay } from 'node:timers/promises'

import { Processes } from '@ws/sandbox'

import { type Child, identify, isAlive, signalIn } from '../processes/first-process.ts'
import { openSpare, type Spare } from './spare.ts'
import {
  afterSilence,
  type Followed,
  type Running,
  SupervisorLost,
  type SupervisorParts,
  type WarmEnd,
} from './supervisor-parts.ts'
import { longestLine, parseLine, type SupervisorLine } from './wire.ts'

/** Multiple of the usual patience for an idle supervisor. */
const idlePatience = 6

const lost: WarmEnd = { status: undefined, isLost: true }

/** This process's side of a supervisor, which is not trusted: an invalid line, a false spare, a wrong end or silence ends it. */
export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #ready: Spare[] = []
  readonly #known = new Map<number, Followed>()
  readonly #waiting: PromiseWithResolvers<Spare>[] = []
  #text = ''
  #asked = 0
  #first: Child | undefined
  #isGreeted = false
  #timer: NodeJS.Timeout | undefined
  readonly #lost = Promise.withResolvers<void>()
  /** Resolves when bubblewrap itself, outside its sandbox, has ended. */
  readonly #exited = Promise.withResolvers<void>()
  #isLost = false
  #isRetired = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    const { child, control, status } = parts
    for (const event of ['error', 'exit'])
      child.on(event, () => {
        this.#exited.resolve()
        this.#lose()
      })
    // errors are ignored, because the `close` and `exit` events also report a broken stream
    for (const stream of [control, status]) stream.on('error', () => undefined)
    let said = ''
    status.setEncoding('latin1')
    status.on('data', (text: string) => {
      if (said.length < 4096) said += text
      const pid = Number(/"child-pid"\s*:\s*(\d+)/.exec(said)?.[1] ?? 0)
      if (this.#first !== undefined || pid <= 0) return
      try {
        this.#first = identify(pid)
      } catch {
        return this.#lose() // too few descriptors: commands start cold, and report the reason
      }
      this.#readLines()
    })
    control.setEncoding('latin1')
    control.on('data', (text: string) => {
      this.#text += text
      this.#readLines()
    })
    control.on('close', () => this.#lose())
    this.#refill()
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get busy(): number {
    return this.#known.size + this.#waiting.length
  }

  get first(): Child | undefined {
    return this.#first
  }

  /** @throws SupervisorLost */
  async take(): Promise<Spare> {
    if (this.#isLost) throw new SupervisorLost()
    const ready = this.#ready.shift()
    if (ready !== undefined) {
      if (this.#ready.length === 0) this.#refill()
      return ready
    }
    const wanted = Promise.withResolvers<Spare>()
    this.#waiting.push(wanted)
    this.#refill()
    this.#hold()
    return await wanted.promise
  }

  follow(spare: Spare): Running {
    const { promise, resolve } = Promise.withResolvers<WarmEnd>()
    const entry: Followed = { child: spare.child, resolve }
    if (this.#isLost) void this.#lost.promise.then(() => resolve(lost))
    else this.#known.set(spare.id, entry)
    this.#hold()
    return {
      ended: promise,
      expectEnd: () => {
        if (this.#known.get(spare.id) === entry) entry.timer ??= afterSilence(this.#parts.patience, () => this.#lose())
      },
    }
  }

  /** Ends the supervisor after its last command. */
  retire(): void {
    this.#isRetired = true
    if (this.busy === 0) this.#lose()
  }

  /** Ends the supervisor with everything inside. Resolves when no process is left. */
  async close(): Promise<void> {
    this.#lose()
    await this.#lost.promise
  }

  /** Keeps the event loop alive while a caller waits. */
  #hold(): void {
    const how = this.busy > 0 ? 'ref' : 'unref'
    const { control, status, child } = this.#parts
    for (const part of [control, status, child] as { ref?(): void; unref?(): void }[]) part[how]?.()
  }

  #refill(): void {
    if (this.#isLost) return
    for (
      let missing = this.#parts.spares + this.#waiting.length - this.#ready.length - this.#asked;
      missing > 0;
      missing--
    ) {
      this.#asked++
      this.#parts.control.write('make\n')
    }
    this.#watchSilence()
  }

  /** Watches for silence: a silent supervisor may keep a command's pipes open, and the command would wait for the end of its input. */
  #watchSilence(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    if (this.#asked === 0 && this.#isGreeted) return
    const isAwaited = this.#waiting.length > 0 || !this.#isGreeted
    const patience = isAwaited ? this.#parts.patience : this.#parts.patience * idlePatience
    this.#timer = afterSilence(patience, () => this.#lose()).unref()
  }

  #readLines(): void {
    // The supervisor's process number must be known first: descriptors are opened by this number.
    if (this.#first === undefined || this.#isLost) return
    for (let end = this.#text.indexOf('\n'); end >= 0 && !this.#isLost; end = this.#text.indexOf('\n')) {
      const line = parseLine(this.#text.slice(0, end))
      this.#text = this.#text.slice(end + 1)
      if (line === undefined || !this.#read(line)) return this.#lose()
    }
    if (this.#text.length > longestLine) this.#lose()
  }

  /** @returns false for a line that a supervisor never sends */
  #read(line: SupervisorLine): boolean {
    if (line.what === 'hello') {
      if (this.#isGreeted || line.filterBytes !== this.#parts.filterBytes || !this.#isRight()) return false
      this.#isGreeted = true
      this.#parts.onSettled()
      this.#watchSilence()
      return true
    }
    if (!this.#isGreeted) return false
    if (line.what === 'end') return this.#ended(line.id, { status: line.status })
    if (line.what === 'unlisted')
      return this.#ended(line.id, { status: undefined, unlisted: line.isUnreadable ? 'unreadable' : 'killed' })
    if (this.#asked === 0) return false
    this.#asked--
    return line.what === 'short' ? this.#runShort() : this.#add(line)
  }

  #isRight(): boolean {
    try {
      // @defence would start in the network of this machine: in a network that commands must not have
      if (this.#first !== undefined) this.#parts.check(this.#first)
      return this.#first !== undefined
    } catch {
      return false // commands start cold, and report the reason
    }
  }

  /** After a shortage, commands that wait for a spare start cold. */
  #runShort(): true {
    for (const { reject } of this.#waiting.splice(0)) reject(new SupervisorLost())
    this.#watchSilence()
    this.#hold()
    return true
  }

  #add(line: SupervisorLine & { what: 'spare' }): boolean {
    let spare: Spare | undefined
    try {
      if (this.#first === undefined) return false
      spare = openSpare(this.#first.pid, line)
    } catch {
      return false // the caller gives the supervisor up
    }
    this.#parts.control.write(`opened ${line.id}\n`)
    if (spare === undefined) return this.#runShort()
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#ready.push(spare)
    else waiting.resolve(spare)
    this.#watchSilence()
    this.#hold()
    return true
  }

  #ended(id: number, end: WarmEnd): boolean {
    const idle = this.#ready.findIndex((spare) => spare.id === id)
    if (idle >= 0) {
      for (const spare of this.#ready.splice(idle, 1)) spare.close()
      return true
    }
    const entry = this.#known.get(id)
    if (entry === undefined) return true // taken, and given back unused
    if (isAlive(entry.child)) return false // @defence a supervisor of warm commands that dies: which lives
    clearInterval(entry.timer)
    this.#known.delete(id)
    entry.resolve(end)
    if (this.#isRetired && this.busy === 0) this.#lose()
    else this.#refill()
    this.#hold()
    return true
  }

  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    if (!this.#isGreeted) this.#parts.onSettled()
    clearInterval(this.#timer)
    for (const spare of this.#ready.splice(0)) spare.close()
    for (const { reject } of this.#waiting.splice(0)) reject(new SupervisorLost())
    for (const { timer } of this.#known.values()) clearInterval(timer)
    void this.#end()
  }

  /** The kernel reports the end of process 1 only after everything in its namespace. Never rejects. */
  async #end(): Promise<void> {
    const { child, control, status } = this.#parts
    const first = this.#first
    if (first !== undefined) signalIn(first, first.pid, 'SIGKILL')
    control.destroy()
    // A child that bubblewrap has not released yet would wait forever, so the whole process group is killed.
    if (first === undefined && child.pid !== undefined) Processes.sendSignal(-child.pid, 'SIGKILL')
    // Waits five seconds at most: a process may be stuck in the kernel.
    for (let i = 0; i < 1000 && first !== undefined && isAlive(first); i++) await delay(5)
    child.kill('SIGKILL')
    status.destroy()
    child.ref() // a program may have nothing else to wait for
    await Promise.race([this.#exited.promise, delay(1000, undefined, { ref: false })])
    child.unref()
    this.#lost.resolve()
    for (const { resolve } of this.#known.values()) resolve(lost)
    this.#known.clear()
  }
}
