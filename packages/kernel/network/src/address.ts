import { option } from '@ws/core/options'
import ipaddr from 'ipaddr.js'

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** The public address of Azure's metadata and credentials. Other clouds use private ranges. */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16'])

/** Addresses of cloud metadata and credentials. A listed range does not include these: each must be listed separately. */
const metadataServices: ReadonlySet<string> = new Set([
  ...cloudServices,
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
])

/** True for a public unicast address. Mapped IPv4 is judged as IPv4; 6to4, Teredo and other embeddings are refused. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast' || cloudServices.has(address.toString())) return false
  return address.kind() === 'ipv4' || address.match(globalUnicast)
}

/** The address in one spelling; `undefined` for a name. */
export function normalAddress(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : undefined
}

export function isAddressRange(text: string): boolean {
  return rangeOf(text) !== undefined
}

/** Returns a check against `ranges`, as in {@link isAddressRange}. A metadata service must be listed by its own address. */
export function addressesIn(ranges: readonly string[]): (address: string) => boolean {
  const known = ranges.flatMap((text) => rangeOf(text) ?? [])
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    const isMetadata = metadataServices.has(address.toString())
    return known.some(({ base, bits, isSingle }) => {
      if (isMetadata && !isSingle) return false // @defence a listed name whose address is private: metadata service
      return base.kind() === address.kind() && address.match(base, bits)
    })
  }
}

interface AddressRange {
  readonly base: ipaddr.IPv4 | ipaddr.IPv6
  readonly bits: number
  readonly isSingle: boolean
}

function rangeOf(text: string): AddressRange | undefined {
  if (!text.includes('/')) {
    if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined
    const base = ipaddr.process(text)
    return { base, bits: widthOf(base), isSingle: true }
  }
  if (!ipaddr.isValidCIDR(text)) return undefined
  const [base, bits] = ipaddr.parseCIDR(text)
  return { base, bits, isSingle: bits === widthOf(base) }
}

function widthOf(address: ipaddr.IPv4 | ipaddr.IPv6): number {
  return address.kind() === 'ipv4' ? 32 : 128
}

export const addressesShape = option.list(
  option.of(
    'an address, or a range such as `10.0.0.0/8`',
    (value) => typeof value === 'string' && isAddressRange(value),
  ),
)
