import { normalAddress } from '@ws/network'

/** Names that are valid only on this machine or in its network. */
const localName = /(?:^|\.)(?:local|localhost|localdomain|internal|intranet|lan|home|corp|home\.arpa)$/iu

/** True for a public name. Tor resolves names at the far end, so an address or a local name would stay unchecked. */
export function isTorName(host: string): boolean {
  const name = host.replace(/\.$/u, '')
  const looksNumeric = /^(?:0x[\da-f]+|\d+)(?:\.(?:0x[\da-f]+|\d+))*$/iu.test(name)
  return normalAddress(name) === undefined && !looksNumeric && name.includes('.') && !localName.test(name)
}
