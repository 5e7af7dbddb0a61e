import { connect as connectTcp, type Socket } from 'node:net'

import { normalAddress } from './address.ts'
import { type AddressCheck, type CheckedAddresses, checkedAddresses, type DialProblem } from './resolve.ts'

/** Milliseconds to resolve the name: a resolver may never answer. */
const lookupTimeout = 30_000
/** Milliseconds to connect to one address. */
export const connectTimeout = 15_000

export type Dialled = { readonly socket: Socket } | { readonly problem: DialProblem }

/** Connects to the checked address only. @throws the reason of `signal` */
export async function dial(
  host: string,
  port: number,
  { signal, ...check }: AddressCheck & { readonly signal: AbortSignal },
): Promise<Dialled> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(lookupTimeout)])
  const given = new Promise<CheckedAddresses>((resolve) => {
    late.addEventListener('abort', () => resolve({ problem: 'unknown' }), { once: true })
  })
  const checked = await Promise.race([checkedAddresses(host, port, check), given])
  signal.throwIfAborted()
  if ('problem' in checked) return checked
  for (const { address, port: at } of checked.addresses) {
    signal.throwIfAborted()
    const socket = await dialAddress(address, at, signal)
    if (socket !== undefined) return { socket }
  }
  return { problem: 'unreachable' }
}

/** `undefined` without a connection within {@link connectTimeout}, or after an abort. */
async function dialAddress(address: string, port: number, signal: AbortSignal): Promise<Socket | undefined> {
  if (signal.aborted) return undefined
  const socket = connectTcp({ host: address, port, autoSelectFamily: false })
  const give = (): void => void socket.destroy()
  signal.addEventListener('abort', give, { once: true })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(connectTimeout, () => reject(new Error('timeout')))
      socket.once('connect', resolve)
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('closed')))
    })
    socket.setTimeout(0)
    // the system may have redirected the connection
    if (normalAddress(socket.remoteAddress ?? '') !== normalAddress(address)) throw new Error('another address')
    return socket
  } catch {
    // the next address is tried after any fault
    socket.destroy()
    return undefined
  } finally {
    signal.removeEventListener('abort', give)
  }
}
