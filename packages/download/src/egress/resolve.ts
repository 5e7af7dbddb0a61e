import { lookup } from 'node:dns/promises'

import { problems } from '../errors.ts'
import { isPublicAddress, normalAddress } from './address.ts'

/** Gives all addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** The system's own resolver. */
export const systemResolve: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

const maxAddresses = 8
/** These names exist in Tor only. Asking a resolver would reveal the destination (RFC 7686). */
const onionName = /\.onion\.?$/iu

/**
 * The addresses of a host. All of them must be public: a name with one public and one private address is refused.
 *
 * @throws WorkspaceError `EACCES`, `ENOENT`
 */
export async function resolvePublic(
  host: string,
  { resolve, permits }: { readonly resolve: Resolve; readonly permits: (address: string) => boolean },
): Promise<readonly string[]> {
  if (onionName.test(host)) throw problems.onion(host)
  const literal = normalAddress(host)
  let addresses: readonly string[]
  try {
    addresses = literal === undefined ? await resolve(host) : [literal]
  } catch {
    throw problems.unknownHost(host)
  }
  if (addresses.length === 0) throw problems.unknownHost(host)
  if (!addresses.every((address) => isPublicAddress(address) || permits(address))) throw problems.private(host)
  return addresses.slice(0, maxAddresses)
}

/** Names that only mean something on this machine or in its network. */
const localName = /(?:^|\.)(?:local|localhost|localdomain|internal|intranet|lan|home|corp|home\.arpa)$/iu

/** Through Tor, names are resolved at the far end, so an address or a local name would not be checked at all. */
export function checkTorName(host: string): void {
  const name = host.replace(/\.$/u, '')
  const looksNumeric = /^(?:0x[\da-f]+|\d+)(?:\.(?:0x[\da-f]+|\d+))*$/iu.test(name)
  if (normalAddress(name) !== undefined || looksNumeric || !name.includes('.') || localName.test(name)) {
    throw problems.torName(host)
  }
}
