/** @module-tag rounds */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { parseInput, stripAlias } from '../../src/path/segments.ts'
import { parsePath, parseVirtualPath, rootPath, segmentsOf, type VirtualPath } from '../../src/path/virtual-path.ts'
import { check, name, normal, segments } from './arbitraries.ts'

const aliases = new Set(['workspace'])
const parse = (input: string) => parseInput(input, { base: rootPath, aliases, operation: 'read' }).path

describe('an alias of the root', () => {
  it('[PC3] `/workspace/x` and `workspace/x` are `/x`', () => {
    check(
      fc.property(segments, (names) => {
        const path = `/${names.join('/')}`
        const expected = names.length === 0 ? '/' : path
        expect([`/workspace${path}`, `workspace${path}`, `//workspace/.${path}/`].map(parse)).toEqual([
          expected,
          expected,
          expected,
        ])
      }),
    )
  })

  it('is taken off once, and only as a whole first segment', () => {
    check(
      fc.property(name, segments, normal, (suffix, rest, anywhere) => {
        const longer = `/workspace${suffix}${rest.map((segment) => `/${segment}`).join('')}`
        expect(parse(longer)).toBe(longer)
        expect(parse(`/workspace/workspace${anywhere}`)).toBe(parseVirtualPath(`/workspace${anywhere}`))
        if (segmentsOf(anywhere)[0] !== 'workspace') expect(parse(anywhere)).toBe(anywhere)
      }),
    )
    const untouched = ['/workspaces/a', '/workspace_backup/a', '/Workspace/a', '/a/workspace', '/ workspace']
    expect(untouched.map(parse)).toEqual(untouched)
  })

  it('[PC19] `..` behind it climbs above the root, as it does without it', () => {
    for (const input of ['/workspace/..', 'workspace/../escape', '/workspace/../..', '/workspace/./../workspace/a']) {
      expect(() => parse(input)).toThrow(expect.objectContaining({ code: 'EOUTSIDE' }))
    }
  })

  it('[PC19] `..` behind a name means the same with it and without it', () => {
    check(
      fc.property(segments, name, segments, (before, link, behind) => {
        const path = ['', ...before, link, '..', ...behind].join('/')
        if (before[0] === 'workspace' || (before.length === 0 && link === 'workspace')) return
        expect(parse(`/workspace${path}`)).toEqual(parsePath(path).path)
      }),
    )
  })

  it('is nothing where there is none', () => {
    check(
      fc.property(normal, (path) => {
        expect(stripAlias(path, new Set())).toBe(path)
        expect(stripAlias(`/other${path === '/' ? '' : path}` as VirtualPath, aliases)).toMatch(/^\/other/)
      }),
    )
  })
})
