import { request as startRequest } from 'node:http'
import type { Socket } from 'node:net'

import type { EngineAddress } from './address.ts'

/** A refusal or failure of the engine. Its text can contain host paths: for operators only. */
export class EngineError extends Error {
  /** The HTTP status; absent if the engine did not answer. */
  readonly status: number | undefined
  /** The system's error code; absent if the engine answered. */
  readonly code: string | undefined

  constructor(
    text: string,
    { status, code }: { readonly status?: number | undefined; readonly code?: string | undefined },
  ) {
    super(text)
    this.name = 'EngineError'
    this.status = status
    this.code = code
  }
}

export interface Attached {
  readonly socket: Socket
  /** Bytes that came with the answer. */
  readonly head: Buffer
}

interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
}

/** Milliseconds for an answer. Pulls take longer, and report progress meanwhile. */
const patience = 60_000

/** Speaks the Engine API, version 1.41 or later. */
export class Engine {
  readonly #address: EngineAddress

  constructor(address: EngineAddress) {
    this.#address = address
  }

  /** @returns the parsed answer, or its text @throws EngineError */
  async call<Answer>(method: Call['method'], path: string, body?: unknown): Promise<Answer> {
    return (await this.#send({ method, path, body }, false)) as Answer
  }

  /** Attaches to the streams of a container. @throws EngineError */
  async attach(path: string): Promise<Attached> {
    return (await this.#send({ method: 'POST', path }, true)) as Attached
  }

  #send({ method, path, body }: Call, isUpgrade: boolean): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const text = body === undefined ? '' : JSON.stringify(body)
    const sent = startRequest({
      ...this.#address,
      method,
      path,
      timeout: patience,
      headers: {
        Host: 'docker',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        'Content-Length': Buffer.byteLength(text),
        ...(isUpgrade && { Connection: 'Upgrade', Upgrade: 'tcp' }),
      },
    })
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    sent.on('error', (error: NodeJS.ErrnoException) =>
      reject(new EngineError(error.message, { code: error.code ?? 'EIO' })),
    )
    sent.on('upgrade', (_answer, socket, head) => resolve({ socket: socket as Socket, head }))
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', (error: NodeJS.ErrnoException) =>
        reject(new EngineError(error.message, { code: error.code ?? 'EIO' })),
      )
      answer.on('end', () => {
        const said = Buffer.concat(chunks).toString()
        const status = answer.statusCode ?? 0
        if (status >= 400 || isUpgrade) return reject(new EngineError(messageOf(said), { status }))
        resolve(answer.headers['content-type']?.startsWith('application/json') === true ? parsed(said) : said)
      })
    })
    sent.end(text)
    return promise
  }
}

/** Progress of a pull is several objects, one a line. */
function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

function messageOf(text: string): string {
  const answer = parsed(text)
  return typeof answer === 'object' && answer !== null && 'message' in answer
    ? String(answer.message)
    : text.slice(0, 4096)
}
