import { describe, expect, it } from 'vitest'
import { copySource, KeySpace } from '../src/keys/key-space.ts'
import { compareKeys, isReserved, makeReservedName, showBytes } from '../src/keys/names.ts'
import { decodeKey } from '../src/keys/decode.ts'
import { readMetadata, writeMetadata } from '../src/headers/metadata.ts'
import { at } from './support.ts'

describe('paths as keys', () => {
  it('[PC2, PC18] lie below the prefix, by whole segments', () => {
    const keys = new KeySpace({ prefix: 'threads/t1' })
    expect(keys.key(at('/a/b'))).toBe('threads/t1/a/b')
    expect(keys.directoryKey(at('/'))).toBe('threads/t1/')
    expect(keys.directoryKey(at('/a'))).toBe('threads/t1/a/')
    expect(keys.pathOf('threads/t1/a/b')).toBe('/a/b')
    expect(new KeySpace({}).key(at('/a'))).toBe('a')
  })

  it.each(['..', 'a/../..', 'a//b', 'a/./b', '/a//', '//', 'a\0b', 'a\ud800'])('refuse the prefix %j', (prefix) => {
    expect(() => new KeySpace({ prefix })).toThrow(expect.objectContaining({ name: 'WorkspaceError' }))
  })

  it('take a prefix with a slash at either end for the same', () => {
    for (const prefix of ['a/b', '/a/b', 'a/b/', '/a/b/']) expect(new KeySpace({ prefix }).prefix).toBe('a/b/')
  })

  it('leave room for the prefix in what a key may have', () => {
    const keys = new KeySpace({ prefix: 'é'.repeat(100) })
    expect(keys.maxPathBytes).toBe(1024 - 201)
    expect(() => new KeySpace({ prefix: `${'x'.repeat(240)}/`.repeat(4) })).toThrow(
      expect.objectContaining({ code: 'ENAMETOOLONG' }),
    )
  })

  it('refuse what the store would take for another name, or keeps for itself', () => {
    const normalised = new KeySpace({ normalised: true })
    expect(() => normalised.check(at('/e\u0301'), 'read')).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    expect(() => normalised.check(at('/\u00e9'), 'read')).not.toThrow()
    const plain = new KeySpace({ controlCharacters: false, links: true })
    for (const path of ['/a\nb', '/a.rclonelink', '/a.rclonelink/b', `/${makeReservedName('scratch')}/x`]) {
      expect(() => plain.check(at(path), 'read'), path).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    }
    expect(() => new KeySpace({}).check(at('/a.rclonelink'), 'read')).not.toThrow()
    expect(isReserved('.ws-scratch')).toBe(false)
  })

  it('are encoded for the source of a copy, segment by segment', () => {
    expect(copySource('b', 'a b/c+d/%/é?#/日')).toBe('b/a%20b/c%2Bd/%25/%C3%A9%3F%23/%E6%97%A5')
  })

  it('sort by bytes, not as JavaScript sorts', () => {
    const keys = ['a', 'a-', 'a/', 'a0', 'b', '\u{e000}', '\uffff', '😀', '\u{10ffff}']
    expect(keys.toSorted(compareKeys)).toEqual(keys)
    expect(keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))).toEqual(keys)
  })

  it('come back from their encoding, and bytes that are no UTF-8 are shown', () => {
    expect(decodeKey('a%20b+c%2Bd/%E6%97%A5%0A').key).toBe('a b c+d/日\n')
    expect(decodeKey('a%FFb%C3%A9')).toEqual({ key: undefined, shown: 'a\\xFFbé' })
    expect(showBytes(Buffer.from([0x61, 0xc3, 0xff, 0xf0, 0x9f, 0x98, 0x80]))).toBe('a\\xC3\\xFF😀')
  })
})

describe('metadata', () => {
  it('keeps time and mode as rclone does', () => {
    const written = writeMetadata({ modifiedAt: 1_700_000_000_123, mode: 0o640, writes: ['a', 'b'] })
    expect(written).toEqual({ mtime: '1700000000.123', mode: '100640', 'ws-writes': 'a,b' })
    expect(readMetadata(written)).toEqual({ modifiedAt: 1_700_000_000_123, mode: 0o640, writes: ['a', 'b'] })
  })

  it('reads what others write: nanoseconds, plain octal, decimal with the type', () => {
    expect(readMetadata({ mtime: '1700000000.123456789', mode: '0100755' })).toMatchObject({
      modifiedAt: 1_700_000_000_123,
      mode: 0o755,
    })
    expect(readMetadata({ mode: '644' }).mode).toBe(0o644)
    expect(readMetadata({ mode: '33188' }).mode).toBe(0o644)
  })

  it.each(['', 'yesterday', '1e9', 'NaN', '9'.repeat(40), '1;2'])('takes the time %j for none', (mtime) => {
    expect(readMetadata({ mtime, mode: mtime }).modifiedAt).toBeUndefined()
  })
})
