import type { Socket } from 'node:net'
import { connect, TLSSocket } from 'node:tls'

import { connectTimeout } from '../dial.ts'
import type { Authority } from '../requests/authority.ts'
import type { Destination, Passages } from './passage.ts'
import { answer, judge, readHello, tlsRecord } from './stream-door.ts'

interface RequestDoor {
  readonly passages: Passages
  readonly authority: Authority
  readonly onHttp: (socket: Socket, isSecure: boolean) => void
}

/** Takes a connection whose requests are judged. TLS ends here: its SNI must match the address, and only HTTP/1.1 is offered. */
export async function takeRequests(
  inner: Socket,
  destination: Destination,
  { passages, authority, onHttp }: RequestDoor,
): Promise<void> {
  const hello = await readHello(inner)
  if (hello === undefined) return void inner.destroy()
  if (hello[0] !== tlsRecord) {
    inner.unshift(hello)
    return onHttp(inner, false)
  }
  const refused = judge(hello, destination)
  if (refused !== undefined) {
    passages.refuse(refused.host, destination.port, refused.refusal)
    return answer(inner, refused.refusal)
  }
  inner.unshift(hello)
  const secure = new TLSSocket(inner, {
    isServer: true,
    secureContext: authority.contextFor(destination.name),
    ALPNProtocols: ['http/1.1'],
  })
  secure.on('error', () => inner.destroy())
  inner.once('close', () => secure.destroy())
  onHttp(secure, true)
}

/** Starts TLS with the host. `undefined` if the host does not prove its name in time. */
export function secured(
  socket: Socket,
  { name, authorities }: { readonly name: string; readonly authorities: readonly string[] | undefined },
): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const secure = connect({
      socket,
      servername: name,
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      ...(authorities && { ca: [...authorities] }),
    })
    const timer = setTimeout(() => socket.destroy(), connectTimeout)
    const done = (result: TLSSocket | undefined): void => {
      clearTimeout(timer)
      secure.off('secureConnect', onSecure)
      secure.off('close', onEnd)
      if (result === undefined) socket.destroy()
      resolve(result)
    }
    const onSecure = (): void => done(secure)
    const onEnd = (): void => done(undefined)
    secure.once('secureConnect', onSecure)
    secure.once('close', onEnd)
    // the event `close` follows
    secure.on('error', () => socket.destroy())
  })
}
