import type { KillSignal, RuleViolation, Terminal } from '../../contract/executor.ts'
import type { SignalOption } from '../../contract/file-types.ts'
import { checkOption } from '../../options/check.ts'
import { option } from '../../options/shapes.ts'
import { checkMethod } from '../../calls/method-options.ts'
import { virtualError } from '../../mount/errors.ts'
import { OutputLog } from './output-log.ts'
import type { OutputText, Session, SessionExit } from '../../contract/sessions.ts'

export interface LiveSessionOptions {
  readonly id: string
  readonly command: string | undefined
  readonly startedAt: number
  readonly terminal: Terminal
  readonly idleTimeout: number | undefined
  readonly killGrace: number
  readonly maxOutputBytes: number
  /** Called when all processes have ended, before any listener is notified. */
  readonly judge: () => Promise<readonly RuleViolation[]>
}

export class LiveSession implements Session {
  readonly id: string
  readonly command: string | undefined
  readonly startedAt: number
  readonly #terminal: Terminal
  readonly #log: OutputLog
  readonly #judge: LiveSessionOptions['judge']
  readonly #listeners = new Set<(chunk: Uint8Array) => void>()
  readonly #changes = new Set<() => void>()
  readonly #idleTimeout: number | undefined
  readonly #killGrace: number
  readonly #exit: Promise<SessionExit>
  #endedBy: SessionExit['endedBy'] = 'program'
  #ended = false
  #idle: NodeJS.Timeout | undefined
  #grace: NodeJS.Timeout | undefined

  constructor({ id, command, startedAt, terminal, idleTimeout, killGrace, maxOutputBytes, judge }: LiveSessionOptions) {
    this.id = id
    this.command = command
    this.startedAt = startedAt
    this.#terminal = terminal
    this.#idleTimeout = idleTimeout
    this.#killGrace = killGrace
    this.#judge = judge
    this.#log = new OutputLog(maxOutputBytes)
    this.#exit = this.#follow()
    this.#exit.catch(() => undefined) // callers that await the end get the error
    this.#touch()
  }

  get closed(): boolean {
    return this.#ended
  }

  get outputBytes(): number {
    return this.#log.end
  }

  async #follow(): Promise<SessionExit> {
    try {
      const [{ exitCode, signal, timedOut, survivors, violations: told = [] }] = await Promise.all([
        this.#terminal.wait(),
        this.#collect(),
      ])
      if (timedOut && this.#endedBy === 'program') this.#endedBy = 'timeout'
      const violations = [...told, ...(survivors ? [] : await this.#judge())]
      return {
        exitCode,
        signal,
        endedBy: this.#endedBy,
        ...(survivors && { survivors }),
        ...(violations.length > 0 && { violations }),
      }
    } finally {
      this.#ended = true
      clearTimeout(this.#idle)
      clearTimeout(this.#grace)
      this.#log.finish()
      for (const change of [...this.#changes]) change()
      this.#listeners.clear()
    }
  }

  async #collect(): Promise<void> {
    for await (const chunk of this.#terminal.output) {
      this.#log.push(chunk)
      this.#touch()
      for (const listener of [...this.#listeners]) {
        try {
          listener(chunk)
        } catch {
          // A listener that fails must not end the session.
        }
      }
      for (const change of [...this.#changes]) change()
    }
  }

  #touch(): void {
    if (this.#idleTimeout === undefined || this.#ended || this.#endedBy !== 'program') return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#end('idleTimeout'), this.#idleTimeout)
  }

  /** Sends SIGHUP, then SIGKILL after a grace period. */
  #end(endedBy: 'idleTimeout' | 'close'): void {
    if (this.#ended) return
    if (this.#endedBy === 'program') this.#endedBy = endedBy
    // Without a process that can get SIGHUP, there is no reason to wait.
    if (!this.#terminal.kill('SIGHUP')) this.#terminal.kill('SIGKILL')
    this.#grace ??= setTimeout(() => this.#terminal.kill('SIGKILL'), this.#killGrace)
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (typeof data !== 'string' && !(data instanceof Uint8Array)) {
      throw virtualError({
        code: 'EINVAL',
        operation: 'write',
        reason: 'the input must be a string or bytes',
        remedy: 'pass a string, with `\\r` for the return key',
      })
    }
    if (this.#ended) throw this.#gone('write')
    this.#touch()
    const outcome = await this.#terminal.write(typeof data === 'string' ? new TextEncoder().encode(data) : data)
    if (outcome === 'written') return
    if (this.#ended || outcome === 'closed') throw this.#gone('write')
    throw virtualError({
      code: 'EBUSY',
      operation: 'write',
      reason: `the program in session \`${this.id}\` does not read its input`,
      remedy: 'wait until it reads, interrupt it (`\\x03`), or close the session',
    })
  }

  resize(columns: number, rows: number): void {
    if (this.#ended || !this.#terminal.resize(columns, rows)) throw this.#gone('resize')
  }

  get commandOffset(): number | undefined {
    return this.#terminal.commandOffset
  }

  /** The offset of the command's output, after the output of start-up files; 0 if the session ended before the command began. */
  get #begin(): number {
    return this.commandOffset ?? (this.#ended ? 0 : this.#log.end)
  }

  read(options: { readonly since?: number | undefined } = {}): OutputText {
    checkMethod('since', 'read', options)
    return this.#log.read(options.since ?? this.#begin)
  }

  async waitForIdle(milliseconds: number, options: SignalOption = {}): Promise<void> {
    checkOption('waitForIdle', 'milliseconds', milliseconds, option.duration)
    checkMethod('signal', 'waitForIdle', options)
    const { signal } = options
    signal?.throwIfAborted()
    if (this.#ended) return
    await new Promise<void>((resolve, reject) => {
      const stop = (settle: () => void): void => {
        clearTimeout(timer)
        unsubscribe()
        signal?.removeEventListener('abort', onAbort)
        settle()
      }
      const onAbort = (): void => stop(() => reject(signal?.reason))
      const timer = setTimeout(() => stop(resolve), milliseconds)
      const unsubscribe = this.#onChange(() => {
        if (this.#ended) stop(resolve)
        else timer.refresh()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  readonly #onChange = (listener: () => void): (() => void) => {
    this.#changes.add(listener)
    return () => void this.#changes.delete(listener)
  }

  onData(listener: (chunk: Uint8Array) => void, options: { readonly since?: number | undefined } = {}): () => void {
    checkOption('onData', 'listener', listener, option.function)
    checkMethod('since', 'onData', options)
    const { since } = options
    const kept = since === undefined ? undefined : this.#log.bytes(since)
    if (kept !== undefined && kept.length > 0) listener(kept)
    // Wraps the listener: if one listener subscribes twice, each returned function removes only its own subscription.
    const own = (chunk: Uint8Array): void => listener(chunk)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  signal(signal: KillSignal): boolean {
    return !this.#ended && this.#terminal.kill(signal)
  }

  kill(signal: KillSignal = 'SIGKILL'): boolean {
    return this.signal(signal)
  }

  async close(): Promise<void> {
    this.#end('close')
    await this.#exit.catch(() => undefined) // callers that await the end get the error
  }

  wait(): Promise<SessionExit> {
    return this.#exit
  }

  #gone(operation: string): Error {
    return virtualError({
      code: 'ECLOSED',
      operation,
      reason: `the session \`${this.id}\` has ended`,
      remedy: 'read the rest of its output, and open another with `openSession`',
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
