import { lookup } from 'node:dns/promises'

import { isPublicAddress, normalAddress } from './address.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly port?: number | undefined
}

export type Resolve = (name: string, port: number) => Promise<readonly (string | ResolvedAddress)[]>

export async function systemResolve(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

const maxAddresses = 8
/** These names exist in Tor only. Asking a resolver would reveal the destination (RFC 7686). */
const onionName = /\.onion\.?$/iu

/** Why a host was not reached: a Tor name, no addresses, a private address, no connection. */
export type DialProblem = 'onion' | 'unknown' | 'private' | 'unreachable'

export interface AddressCheck {
  readonly resolve: Resolve
  /** True for an address that is allowed in addition to public addresses. */
  readonly permits: (address: string) => boolean
}

export type CheckedAddresses =
  | { readonly addresses: readonly { readonly address: string; readonly port: number }[] }
  | { readonly problem: Exclude<DialProblem, 'unreachable'> }

/** Resolves a host to at most 8 addresses, all public: a mix of public and private addresses is refused. */
export async function checkedAddresses(
  host: string,
  port: number,
  { resolve, permits }: AddressCheck,
): Promise<CheckedAddresses> {
  if (onionName.test(host)) return { problem: 'onion' }
  const literal = normalAddress(host)
  let found: Awaited<ReturnType<Resolve>>
  try {
    found = literal === undefined ? await resolve(host, port) : [literal]
  } catch {
    return { problem: 'unknown' } // the caller reports that the name is unknown
  }
  if (found.length === 0) return { problem: 'unknown' }
  const addresses = found.map((one) =>
    typeof one === 'string' ? { address: one, port } : { address: one.address, port: one.port ?? port },
  )
  if (!addresses.every(({ address }) => isPublicAddress(address) || permits(address))) return { problem: 'private' }
  return { addresses: addresses.slice(0, maxAddresses) }
}
