import { Agent, request } from 'node:http'

import { diagnosed, failure } from '../errors.ts'
import { asText } from './text.ts'

export interface ControlOptions {
  readonly address: string
  readonly user: string
  readonly password: string
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds to wait for the answer. Default 10,000. */
  readonly timeout?: number | undefined
}

type Answer = Readonly<Record<string, unknown>>

/** A refusal by rclone. Its message is for operators. */
export class ControlRefusal extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.name = 'ControlRefusal'
    this.status = status
  }
}

/** True if rclone reports a missing file, directory or bucket. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ControlRefusal && /not found/i.test(error.message)
}

/** Sends a request to rclone. @throws WorkspaceError that explains a refusal to the caller of `operation` */
export async function explained(operation: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (error instanceof ControlRefusal) throw diagnosed(error.message, operation)
    throw error
  }
}

/** More sockets than requests at once, so that no request waits for another answer. */
const maxSockets = 32

/** rclone's control interface. It listens on this machine only, and needs the password. */
export class Control {
  readonly #url: URL
  readonly #authorization: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets })

  constructor({ address, user, password }: ControlOptions) {
    this.#url = new URL(address)
    this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  }

  /** Calls a command. @throws ControlRefusal; WorkspaceError `ETIMEDOUT` without an answer, `EIO` if rclone has ended */
  async call(command: string, parameters: Answer = {}, options: CallOptions = {}): Promise<Answer> {
    const { signal, timeout = 10_000 } = options
    signal?.throwIfAborted()
    const late = AbortSignal.timeout(timeout)
    const both = signal === undefined ? late : AbortSignal.any([signal, late])
    try {
      const { status, text } = await this.#post(command, JSON.stringify(parameters), both)
      const answer = JSON.parse(text) as Answer
      if (status === 200) return answer
      throw new ControlRefusal(status, asText(answer['error']) || text)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ControlRefusal) throw error
      if (late.aborted) throw failure('ETIMEDOUT', 'the mount does not answer', { operation: command, native: error })
      throw failure('EIO', 'the mount cannot be reached', { operation: command, native: error })
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  async #post(command: string, body: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const headers = {
      authorization: this.#authorization,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const sent = request(
      new URL(command, this.#url),
      { method: 'POST', agent: this.#agent, headers, signal },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => (text += chunk))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
    return await promise
  }
}
