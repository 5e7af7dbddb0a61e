import type { Socket } from 'node:net'

import { hostLists } from '@ws/core/executor'
import { longestHello, readClientHello } from './client-hello.ts'
import { type Destination, join, type Passages } from './passage.ts'
import { type Refusal, refusals } from './refusals.ts'

/** Milliseconds for the first message of TLS. */
const helloTimeout = 10_000
export const tlsRecord = 22
/** Fatal TLS alerts: `unrecognized_name` and `internal_error`. */
const alerts = { denied: [21, 3, 1, 0, 2, 2, 112], failed: [21, 3, 1, 0, 2, 2, 80] } as const

/** Takes a TLS connection, whose SNI must match its address. */
export async function passTls(inner: Socket, destination: Destination, passages: Passages): Promise<void> {
  const hello = await readHello(inner)
  if (hello === undefined) return void inner.destroy()
  const refused = judge(hello, destination)
  if (refused !== undefined) {
    passages.refuse(refused.host, destination.port, refused.refusal)
    return answer(inner, refused.refusal)
  }
  const way = await passages.out(destination)
  if ('refusal' in way) return answer(inner, way.refusal)
  if (inner.destroyed) return void way.socket.destroy()
  way.socket.write(hello)
  join(inner, way.socket)
}

/** Takes a connection to any other port, and inspects its first bytes. TLS must name the host; HTTP goes to `onHttp`; the rest passes. */
export async function passOther(
  inner: Socket,
  destination: Destination,
  { passages, onHttp }: { readonly passages: Passages; readonly onHttp: () => void },
): Promise<void> {
  const way = await passages.out(destination)
  if ('refusal' in way) return void inner.destroy()
  const { socket: outer } = way
  if (inner.destroyed) return void outer.destroy()
  const end = (): void => inner.destroySoon()
  outer.pipe(inner)
  outer.once('close', end)
  inner.once('close', () => outer.destroy())
  const first = await firstBytes(inner)
  if (first === undefined) return void outer.end()
  inner.unshift(first)
  if (first[0] !== tlsRecord) {
    const line = await passFirstLine(inner, outer)
    if (line.verdict === 'other') return void inner.pipe(outer)
    outer.unpipe(inner)
    outer.off('close', end)
    outer.destroy()
    if (line.verdict === 'endless') {
      passages.refuse(destination.name, destination.port, refusals.unjudged('begins with a line that is too long'))
      return void inner.destroy()
    }
    inner.unshift(line.bytes)
    return onHttp()
  }
  const hello = await readHello(inner)
  const refused = hello === undefined ? undefined : judge(hello, destination)
  if (refused !== undefined) passages.refuse(refused.host, destination.port, refused.refusal)
  if (hello === undefined || refused !== undefined) return void inner.destroy()
  outer.write(hello)
  inner.pipe(outer)
}

/** Refuses a first message for another host, or without a host. */
export function judge(
  hello: Buffer,
  { name, port }: Destination,
): { readonly host: string; readonly refusal: Refusal } | undefined {
  const read = readClientHello(hello)
  if ('problem' in read) return { host: name, refusal: refusals.unjudged(read.problem) }
  if ('more' in read) return { host: name, refusal: refusals.unjudged('ends before its first message is whole') }
  const said = hostLists.normalName(read.name)
  return said === name // @defence ` === name` TLS for another host over a listed address: the SNI must be the name
    ? undefined
    : { host: `${said}:${port}`.replace(/:443$/u, ''), refusal: refusals.otherName(name) }
}

export function answer(inner: Socket, { outcome }: Refusal): void {
  inner.end(Buffer.from(alerts[outcome]), () => inner.destroySoon())
}

/** Resolves with all bytes of the first message, or with enough bytes to judge; `undefined` without any byte. */
export function readHello(inner: Socket): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0)
    const timer = setTimeout(() => done(undefined), helloTimeout)
    const done = (result: Buffer | undefined): void => {
      clearTimeout(timer)
      inner.pause()
      inner.off('data', onData)
      inner.off('end', onEnd)
      inner.off('close', onEnd)
      resolve(result)
    }
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      if (!('more' in readClientHello(bytes)) || bytes.length > longestHello) done(bytes)
    }
    const onEnd = (): void => done(bytes.length > 0 ? bytes : undefined)
    inner.on('data', onData)
    inner.on('end', onEnd)
    inner.on('close', onEnd)
    inner.resume()
  })
}

function firstBytes(inner: Socket): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const done = (chunk?: Buffer): void => {
      inner.pause()
      for (const [event, listener] of listeners) inner.off(event, listener)
      resolve(chunk)
    }
    const listeners = [
      ['data', done],
      ['end', () => done()],
      ['close', () => done()],
    ] as const
    for (const [event, listener] of listeners) inner.on(event, listener)
    inner.resume()
  })
}

type FirstLine =
  | { readonly verdict: 'http'; readonly bytes: Buffer }
  | { readonly verdict: 'other' }
  | { readonly verdict: 'endless' }

const longestLine = 16 * 1024
const method = /^[\w!#$%&'*+.^`|~-]{0,64}(?:\s|$)/u

/** Passes bytes on until the first line shows whether it is HTTP. If it is, resolves with the bytes so far. */
function passFirstLine(inner: Socket, outer: Socket): Promise<FirstLine> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0)
    const done = (line: FirstLine): void => {
      inner.off('data', onData)
      inner.off('end', onEnd)
      inner.off('close', onEnd)
      inner.pause()
      resolve(line)
    }
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      const verdict = judgeFirstLine(bytes)
      if (verdict === 'http') return done({ verdict, bytes })
      if (verdict === 'endless') return done({ verdict })
      const hasRoom = outer.write(chunk)
      if (verdict === 'other') return done({ verdict })
      if (hasRoom) return
      inner.pause()
      outer.once('drain', () => inner.resume())
    }
    const onEnd = (): void => {
      outer.end()
      done({ verdict: 'other' })
    }
    inner.on('data', onData)
    inner.on('end', onEnd)
    inner.on('close', onEnd)
    inner.resume()
  })
}

/** `more`: the line has not ended. Servers skip line ends before a request. */
function judgeFirstLine(bytes: Buffer): 'http' | 'other' | 'endless' | 'more' {
  const [, line = '', end] = /^[\r\n]*([^\n]*)(\n)?/u.exec(bytes.toString('latin1')) ?? []
  if (end !== undefined) return /\sHTTP\/\d/iu.test(line) ? 'http' : 'other'
  if (!method.test(line)) return 'other'
  return bytes.length > longestLine ? 'endless' : 'more'
}
