import type { Writable } from 'node:stream'

import { WorkspaceError, type AccessEvent } from '@ws/core'
import { checkOption, checkOptions, hasMethods, option, type OptionShapes } from '@ws/core/options'

export interface AuditLogOptions {
  /** Limit of the bytes queued for a slow stream. Further events are dropped and counted. Default 1 MiB. */
  readonly maxPendingBytes?: number | undefined
  /** Called with each dropped event. Its errors are ignored. Default: none. */
  readonly onDropped?: ((event: AccessEvent) => void) | undefined
}

export interface AuditLog {
  /** The listener: `workspace.on('access', log.record)`. Several workspaces can share a log. */
  readonly record: (event: AccessEvent) => void
  /** Events dropped so far. */
  readonly dropped: number
  /** Resolves when the stream has accepted every line. @throws WorkspaceError `EIO` for a failed or closed stream */
  flush(): Promise<void>
  /** Flushes the log. Later events are dropped. The caller ends the stream. */
  close(): Promise<void>
}

const shapes: OptionShapes<AuditLogOptions> = { maxPendingBytes: option.integer(1), onDropped: option.function }

/**
 * Writes audit events to a stream as JSON lines. While the stream is full, lines are queued up to `maxPendingBytes`.
 * The line `{"time":…,"dropped":n}` replaces dropped events. A failing stream does not affect the workspace.
 * @throws WorkspaceError `EINVAL` that names the option
 */
export function createAuditLog(stream: Writable, options: AuditLogOptions = {}): AuditLog {
  checkOption('createAuditLog', 'stream', stream, option.of('a writable stream', isStream))
  checkOptions<AuditLogOptions>(options, shapes, { operation: 'createAuditLog' })
  return new LineLog(stream, options)
}

const isStream = (value: unknown): boolean => typeof value === 'object' && hasMethods(value, 'write', 'once', 'on')

interface Line {
  readonly text: string
  readonly bytes: number
}

interface Gap {
  dropped: number
}

class LineLog implements AuditLog {
  readonly #stream: Writable
  readonly #maxPendingBytes: number
  readonly #onDropped: AuditLogOptions['onDropped']
  #waiting: (Line | Gap)[] = []
  #pendingBytes = 0
  #unwritten = 0
  #full = false
  #closed = false
  #dropped = 0
  #failure: WorkspaceError | undefined
  #settled: (() => void)[] = []

  constructor(stream: Writable, { maxPendingBytes = 1_048_576, onDropped }: AuditLogOptions) {
    this.#stream = stream
    this.#maxPendingBytes = maxPendingBytes
    this.#onDropped = onDropped
    stream.on('drain', this.#onDrain)
    // an error without a listener would end the process
    stream.on('error', this.#onEnd)
    stream.once('close', this.#onEnd)
  }

  get dropped(): number {
    return this.#dropped
  }

  readonly record = (event: AccessEvent): void => {
    if (this.#closed || this.#failure !== undefined) return this.#drop(event)
    const text = `${JSON.stringify(event)}\n`
    const bytes = Buffer.byteLength(text)
    if (!this.#full && this.#waiting.length === 0) return this.#write(text)
    if (this.#pendingBytes + bytes > this.#maxPendingBytes) {
      const last = this.#waiting.at(-1)
      if (last !== undefined && 'dropped' in last) last.dropped += 1
      else this.#waiting.push({ dropped: 1 })
      return this.#drop(event)
    }
    this.#pendingBytes += bytes
    this.#waiting.push({ text, bytes })
  }

  async flush(): Promise<void> {
    while (this.#failure === undefined && (this.#unwritten > 0 || this.#waiting.length > 0)) {
      await new Promise<void>((resolve) => this.#settled.push(resolve))
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async close(): Promise<void> {
    this.#closed = true
    try {
      await this.flush()
    } finally {
      this.#stream.off('drain', this.#onDrain)
      this.#stream.off('close', this.#onEnd)
    }
  }

  #write(text: string): void {
    this.#unwritten += 1
    this.#full = !this.#stream.write(text, () => {
      this.#unwritten -= 1
      this.#settle()
    })
  }

  readonly #onDrain = (): void => {
    this.#full = false
    while (!this.#full) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      if ('text' in next) this.#pendingBytes -= next.bytes
      this.#write('text' in next ? next.text : `${JSON.stringify({ time: Date.now(), dropped: next.dropped })}\n`)
    }
    this.#settle()
  }

  readonly #onEnd = (native?: unknown): void => {
    if (this.#failure !== undefined) return
    this.#failure = new WorkspaceError({
      code: 'EIO',
      operation: 'auditLog',
      reason: native === undefined ? 'the stream of the audit log is closed' : 'the stream of the audit log has failed',
      remedy: 'make another log with another stream',
      native,
    })
    this.#dropped += this.#waiting.filter((one) => 'text' in one).length
    this.#waiting = []
    this.#settle()
  }

  #drop(event: AccessEvent): void {
    this.#dropped += 1
    try {
      this.#onDropped?.(event)
    } catch {
      // a failing listener must not change the caller's result
    }
  }

  #settle(): void {
    const settled = this.#settled
    this.#settled = []
    for (const resolve of settled) resolve()
  }
}
