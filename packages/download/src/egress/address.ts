import ipaddr from 'ipaddr.js'

/** All public unicast addresses of IPv6. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Services of a cloud for its own machines, at addresses of the public network: metadata and credentials of Azure. Those of
 * other clouds lie in ranges that are not public (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254).
 */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16'])

/**
 * True for a public unicast address. IPv4 that is mapped into IPv6 is judged as IPv4. Every other way to write an IPv4
 * address in IPv6 (6to4, Teredo, NAT64, compatible) is refused, since it could lead anywhere.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast' || cloudServices.has(address.toString())) return false
  return address.kind() === 'ipv4' || address.match(globalUnicast)
}

/** The address that a text means, in one spelling; `undefined` for a name. */
export function normalAddress(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : undefined
}
