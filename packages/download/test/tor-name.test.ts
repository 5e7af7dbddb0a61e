import { describe, expect, it } from 'vitest'

import { checkTorName } from '../src/egress/tor-name.ts'

describe('checkTorName', () => {
  it.each(['example.org', 'a.b.example.', 'abcdef.onion'])('takes %s', (name) => {
    expect(() => checkTorName(name)).not.toThrow()
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
    expect(() => checkTorName(name)).toThrow(expect.objectContaining({ code: 'EACCES' }))
  })
})
