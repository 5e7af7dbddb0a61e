import { describe, expect, it } from 'vitest'

import { addressesIn, isAddressRange, isPublicAddress } from '../src/address.ts'

describe('isPublicAddress', () => {
  it.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111', '::ffff:1.1.1.1'])('[FS10] %s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ...['127.0.0.1', '127.1.2.3', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '0.0.0.0', '100.64.0.1'],
    // Metadata services of clouds.
    ...['168.63.129.16', '::ffff:168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'],
    ...['192.0.0.8', '192.0.2.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
    ...['::1', '::', '::7f00:1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1'],
    ...[
      '64:ff9b:1::7f00:1',
      '2002:7f00:1::',
      '2001:0:7f00:1::',
      'fe80::1',
      'fec0::1',
      'fd00::1',
      'ff02::1',
      '2001:db8::1',
    ],
    ...['3fff::1', '5f00::1', '100::1', '2620:4f:8000::1', 'localhost', '', '2130706433x'],
  ])('[FS10] %s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe('addressesIn', () => {
  const permits = addressesIn(['10.0.0.0/8', '192.168.1.5', 'fd00::/8', '169.254.0.0/16'])

  it.each(['10.1.2.3', '192.168.1.5', '::ffff:10.1.2.3', 'fd12::1', '169.254.1.1'])('permits %s', (address) => {
    expect(permits(address)).toBe(true)
  })

  it.each(['11.0.0.1', '192.168.1.6', '127.0.0.1', '::1', '169.254.169.254', 'fd00:ec2::254', 'x', ''])(
    '[NW3] does not permit %s',
    (address) => {
      expect(permits(address)).toBe(false)
    },
  )

  it('[NW3] opens the metadata service of a cloud by its own address alone', () => {
    expect(addressesIn(['169.254.169.254'])('169.254.169.254')).toBe(true)
    expect(addressesIn(['0.0.0.0/0'])('::ffff:169.254.169.254')).toBe(false)
  })

  it.each(['10', '10.0.0.0/33', '0x7f.1', 'example.org', '10.0.0.0/', ''])('does not take %s for a range', (text) => {
    expect(isAddressRange(text)).toBe(false)
  })
})
