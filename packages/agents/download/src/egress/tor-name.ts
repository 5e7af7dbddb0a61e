import { normalAddress } from '@ws/network'

/** Names that only mean something on this machine or in its network. */
const localName = /(?:^|\.)(?:local|localhost|localdomain|internal|intranet|lan|home|corp|home\.arpa)$/iu

/** Through Tor, names are resolved at the far end, so an address or a local name would not be checked by at all. */
export function isTorName(host: string): boolean {
  const name = host.replace(/\.$/u, '')
  const looksNumeric = /^(?:0x[\da-f]+|\d+)(?:\.(?:0x[\da-f]+|\d+))*$/iu.test(name)
  return normalAddress(name) === undefined && !looksNumeric && name.includes('.') && !localName.test(name)
}
