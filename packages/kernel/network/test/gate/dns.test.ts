import { describe, expect, it } from 'vitest'

import { answerQuery } from '../../src/gate/dns.ts'
import { AddressBook } from '../../src/gate/address-book.ts'
import { listOf } from './bench.ts'

function query(name: string | readonly Buffer[], type = 1, { flags = 0x0100, count = 1, kind = 1 } = {}): Buffer {
  const labels = typeof name === 'string' ? name.split('.').map((label) => Buffer.from(label)) : name
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xabcd, 0)
  head.writeUInt16BE(flags, 2)
  head.writeUInt16BE(count, 4)
  const question = labels.flatMap((label) => [Buffer.from([label.length]), label])
  return Buffer.concat([head, ...question, Buffer.from([0, 0, type, 0, kind])])
}

const book = new AddressBook(listOf('api.test', '*.wild.test'))
const ask = (message: Buffer) => {
  const answer = answerQuery(message, (name) => book.addressOf(name))
  if (answer === undefined) return undefined
  const bytes = Buffer.from(answer)
  return {
    code: bytes.readUInt16BE(2) & 15,
    answers: bytes.readUInt16BE(6),
    address: [...bytes.subarray(-4)].join('.'),
  }
}

describe('the name server of a sandbox', () => {
  it('[NW1] gives each listed name an address of its own, whatever its case', () => {
    expect(ask(query('api.test'))).toEqual({ code: 0, answers: 1, address: '198.18.0.2' })
    expect(ask(query('API.Test'))).toMatchObject({ address: '198.18.0.2' })
    expect(ask(query('a.wild.test'))).toMatchObject({ code: 0, address: '198.18.0.3' })
    expect(ask(query('b.wild.test'))).toMatchObject({ code: 0, address: '198.18.0.4' })
    expect(book.nameOf('198.18.0.3')).toBe('a.wild.test')
    expect(book.nameOf('198.18.0.1')).toBeUndefined()
    expect(book.nameOf('127.0.0.1')).toBeUndefined()
  })

  it.each([28, 16, 15, 65, 64, 255, 12])('[NW1] has no record of type %d for a listed name', (type) => {
    expect(ask(query('api.test', type))).toMatchObject({ code: 0, answers: 0 })
  })

  it.each([
    'evil.test',
    'wild.test',
    'c2VjcmV0.evil.test',
    'api.test.evil.test',
    `${'a'.repeat(63)}.${'b'.repeat(63)}.test`,
  ])('[NW1] does not know %s, of any type', (name) => {
    for (const type of [1, 28, 16, 255]) expect(ask(query(name, type))).toMatchObject({ code: 3, answers: 0 })
  })

  it('[NW1] takes no odd label for a name', () => {
    expect(ask(query([Buffer.from('api.test')]))).toMatchObject({ code: 3 })
    expect(ask(query([Buffer.from([0, 255, 7]), Buffer.from('wild'), Buffer.from('test')]))).toMatchObject({ code: 3 })
  })

  it('[NW1] answers one ordinary question only', () => {
    expect(ask(query('api.test', 1, { count: 2 }))).toMatchObject({ code: 1 })
    expect(ask(query('api.test', 1, { count: 0 }))).toMatchObject({ code: 1 })
    expect(ask(query('api.test', 1, { kind: 3 }))).toMatchObject({ code: 3 })
    expect(ask(query('api.test', 1, { flags: 0x2800 }))).toMatchObject({ code: 4 })
    expect(ask(query('api.test', 1, { flags: 0x8180 }))).toBeUndefined()
    expect(ask(Buffer.alloc(5))).toBeUndefined()
    expect(ask(Buffer.alloc(2000))).toBeUndefined()
    expect(ask(query([Buffer.alloc(192)]))).toMatchObject({ code: 1 })
    expect(ask(query('api.test').subarray(0, 15))).toMatchObject({ code: 1 })
  })

  it('[NW1] gives a command no endless supply of names', () => {
    const own = new AddressBook(listOf('*.wild.test'))
    const given = Array.from({ length: 5000 }, (_, index) => own.addressOf(`n${index}.wild.test`))
    expect(given.filter((address) => address !== undefined)).toHaveLength(4096)
    expect(new Set(given.map(String)).size).toBe(4097)
  })
})
