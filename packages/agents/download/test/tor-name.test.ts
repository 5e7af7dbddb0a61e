import { describe, expect, it } from 'vitest'

import { isTorName } from '../src/egress/tor-name.ts'

describe('isTorName', () => {
  it.each(['example.org', 'a.b.example.', 'abcdef.onion'])('takes %s', (name) => {
    expect(isTorName(name)).toBe(true)
  })
  it.each([
    '127.0.0.1',
    '[::1]',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    'localhost',
    'printer',
    'printer.local',
    'db.internal',
    'x.localhost.',
  ])('refuses %s, which nobody would check', (name) => {
    expect(isTorName(name)).toBe(false)
  })
})
