import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Transform } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'

import { answerInstead, failAnswer, type Failure } from './answers.ts'
import type { Fault, FaultTime } from './faults.ts'
import type { RecordedRequest } from './request.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly recorded: RecordedRequest
  readonly target: URL
}

// One connection for each request: a kept connection that the server closes would be an unplanned fault.
const agent = new Agent({ keepAlive: false })

/** Serves a request with its fault. Rejects if server or client vanish. */
export async function forward(exchange: Exchange): Promise<void> {
  const { request, recorded } = exchange
  const { fault } = recorded
  if (fault?.kind === 'delay') await delay(fault.ms)
  // a request that its sender has aborted must not reach the server
  if (exchange.response.destroyed) return
  if (fault?.kind === 'refuse' || fault?.kind === 'html') {
    await drain(exchange)
    answerInstead(exchange, fault)
    return
  }
  const before = failureAt(fault, 'before')
  if (before !== undefined) {
    // a client that is still sending mistakes an early answer for a broken connection
    if (before.kind !== 'reset') await drain(exchange)
    failAnswer(exchange, before)
    return
  }
  const during = failureAt(fault, 'during')
  if (during?.kind === 'reset') {
    await sendHalf(exchange)
    failAnswer(exchange, during)
    return
  }
  const answer = fault?.kind === 'duplicate' ? await askTwice(exchange, fault.ms) : await ask(exchange)
  recorded.serverStatus = answer.statusCode
  const after = failureAt(fault, 'after')
  if (after !== undefined) {
    // only the end of the answer proves that the server has finished
    answer.resume()
    await finished(answer)
    failAnswer(exchange, after)
    return
  }
  await passOn(exchange, answer)
  if (fault?.kind === 'truncate') request.socket.destroySoon()
}

function failureAt(fault: Fault | undefined, when: FaultTime): Failure | undefined {
  if (fault?.kind === 'status') return when === (fault.acted === true ? 'after' : 'before') ? fault : undefined
  return (fault?.kind === 'reset' || fault?.kind === 'hang') && fault.when === when ? fault : undefined
}

async function drain({ request, recorded }: Exchange): Promise<void> {
  for await (const chunk of chunksOf(request)) recorded.requestBytes += chunk.length
}

async function sendHalf(exchange: Exchange): Promise<void> {
  const { request, recorded } = exchange
  const onward = openRequest(exchange)
  const half = Math.floor(Number(request.headers['content-length'] ?? 0) / 2)
  for await (const chunk of chunksOf(request)) {
    const part = chunk.subarray(0, half - recorded.requestBytes)
    recorded.requestBytes += part.length
    await new Promise((resolve) => onward.write(part, resolve))
    if (recorded.requestBytes >= half) break
  }
  onward.destroy()
}

async function ask(exchange: Exchange): Promise<IncomingMessage> {
  const { request, recorded } = exchange
  const onward = openRequest(exchange)
  const answered = once(onward, 'response')
  const counted = mapping((chunk) => {
    recorded.requestBytes += chunk.length
    return chunk
  })
  // A server may answer before reading the whole request. If the server only hangs up, `answered` rejects.
  pipeline(request, counted, onward).catch(() => undefined)
  const [answer] = await answered
  return answer as IncomingMessage
}

/** Sends the request twice, the second time after a pause. Returns the first answer. */
async function askTwice(exchange: Exchange, ms: number): Promise<IncomingMessage> {
  const { request, recorded } = exchange
  const chunks: Buffer[] = []
  for await (const chunk of chunksOf(request)) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  recorded.requestBytes = body.length
  const send = async (): Promise<IncomingMessage> => {
    const onward = openRequest(exchange, { tied: false })
    onward.end(body)
    const [answer] = await once(onward, 'response')
    return answer as IncomingMessage
  }
  const first = await send()
  void delay(ms)
    .then(send)
    .then((second) => {
      recorded.secondStatus = second.statusCode
      second.resume()
    })
    .catch(() => undefined)
  return first
}

function openRequest({ request, response, target }: Exchange, { tied = true } = {}) {
  const onward = httpRequest({
    host: target.hostname,
    port: target.port,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: endToEnd(request.rawHeaders),
    setHost: false,
    agent,
  })
  // the error is reported through the answer, if a caller still waits for it
  onward.on('error', () => undefined)
  if (tied) response.once('close', () => onward.destroy())
  return onward
}

/** Passes the answer on, with faults in its body. */
async function passOn({ response, recorded }: Exchange, answer: IncomingMessage): Promise<void> {
  const { fault } = recorded
  if (fault?.kind === 'shorten') return shorten({ response, recorded }, answer, fault.keep)
  const keep = fault?.kind === 'truncate' ? fault.keep : fault?.kind === 'hang' ? 0.5 : 1
  const at = fault?.kind === 'flip' ? fault.at : undefined
  recorded.status = answer.statusCode
  const body = keep < 1 || at !== undefined ? await measured(answer) : { length: 0, chunks: answer }

  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.rawHeaders))
  response.flushHeaders()
  const end = keep < 1 ? Math.floor(body.length * keep) : Infinity
  const wrong = at === undefined ? -1 : Math.floor(body.length * at)
  const changed = mapping((chunk) => {
    const part = chunk.subarray(0, Math.max(0, end - recorded.responseBytes))
    const byte = part[wrong - recorded.responseBytes]
    if (byte !== undefined) part[wrong - recorded.responseBytes] = byte ^ 1
    recorded.responseBytes += part.length
    return part
  })
  const source = fault?.kind === 'slow' ? slowly(answer, fault.ms) : body.chunks
  await pipeline(source, changed, response, { end: end === Infinity || body.length === 0 })
}

/** Passes on the beginning of an answer as a complete one. */
async function shorten(
  { response, recorded }: Pick<Exchange, 'response' | 'recorded'>,
  answer: IncomingMessage,
  keep: number,
): Promise<void> {
  const { length, chunks } = await measured(answer)
  const whole: Buffer[] = []
  for await (const chunk of chunks) whole.push(chunk)
  const part = Buffer.concat(whole).subarray(0, Math.floor(length * keep))
  recorded.responseBytes = part.length
  const headers = endToEnd(answer.rawHeaders).map((value, index, all) =>
    all[index - 1]?.toLowerCase() === 'content-length' && index % 2 === 1 ? `${part.length}` : value,
  )
  response.writeHead(answer.statusCode ?? 502, headers)
  response.end(part)
}

/** The body in ten pieces with pauses between. */
async function* slowly(answer: IncomingMessage, ms: number): AsyncGenerator<Buffer, undefined> {
  const whole: Buffer[] = []
  for await (const chunk of answer as AsyncIterable<Buffer>) whole.push(chunk)
  const body = Buffer.concat(whole)
  const size = Math.max(1, Math.ceil(body.length / 10))
  for (let at = 0; at < body.length; at += size) {
    await delay(ms / 10)
    yield body.subarray(at, at + size)
  }
  return undefined
}

/** Body and length. If no length is announced, as for listings, the whole body is read first. */
async function measured(
  answer: IncomingMessage,
): Promise<{ length: number; chunks: AsyncIterable<Buffer> | Buffer[] }> {
  const announced = answer.headers['content-length']
  if (announced !== undefined) return { length: Number(announced), chunks: answer }
  const chunks: Buffer[] = []
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
  return { length: chunks.reduce((sum, { length }) => sum + length, 0), chunks }
}

function mapping(map: (chunk: Buffer) => Buffer): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, map(chunk))
    },
  })
}

/** The request's chunks. Leaving the loop early does not close the connection. */
function chunksOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return request.iterator({ destroyOnReturn: false })
}

/** Headers without those that apply to one connection only. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => {
    const name = rawHeaders[index - (index % 2)]?.toLowerCase()
    return name !== 'connection' && name !== 'keep-alive'
  })
}
