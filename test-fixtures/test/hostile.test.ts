import { describe, expect, it } from 'vitest'

import { hostileNames, hostilePaths } from '../src/index.ts'

describe('hostile input', () => {
  it('[PC19] is a few hundred paths of every kind, each once', () => {
    const paths = hostilePaths('/somewhere/t12/secret.txt')
    expect(paths.length).toBeGreaterThan(500)
    expect(new Set(paths.map(({ value }) => value)).size).toBe(paths.length)
    const kinds = new Set(paths.map(({ kind }) => kind))
    for (const kind of [
      'traversal',
      'percent-encoded traversal',
      'overlong UTF-8 traversal',
      'full-width traversal',
      'NUL',
      'over-long',
      'magic link',
      'UNC, drive and stream',
      'newline and terminal',
      'bidi and confusing',
    ]) {
      expect(kinds, kind).toContain(kind)
    }
  })

  it('[PC20] names are such that a file system can hold', () => {
    const names = hostileNames().map(({ value }) => value)
    expect(names.length).toBeGreaterThan(300)
    for (const name of names) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      expect(name).not.toMatch(/[/\0]|^\.{0,2}$/)
    }
  })
})
