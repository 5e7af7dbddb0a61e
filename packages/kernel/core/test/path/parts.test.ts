/** @module-tag rounds */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import {
  baseName,
  childPath,
  isWithin,
  joinPath,
  parentPath,
  parseVirtualPath,
  relativeTo,
  segmentsOf,
  type MountPath,
  type VirtualPath,
} from '../../src/path/virtual-path.ts'
import { check, name, normal, segments } from './arbitraries.ts'

const inMount = (path: VirtualPath) => path as string as MountPath

describe('parts of paths', () => {
  it('[PC4] joining and taking the relative path are inverse, over every root', () => {
    check(
      fc.property(normal, normal, (root, path) => {
        const joined = joinPath(root, inMount(path))
        expect(isWithin(joined, root)).toBe(true)
        expect(relativeTo(joined, root)).toBe(path)
        expect(joinPath(root, relativeTo(joined, root))).toBe(joined)
        expect(parseVirtualPath(joined)).toBe(joined)
      }),
    )
  })

  it('[PC18] isWithin compares whole components, as an array of names does', () => {
    check(
      fc.property(segments, segments, fc.boolean(), (one, other, nested) => {
        const names = nested ? [...other, ...one] : one
        const [path, root] = [names, other].map((list) => parseVirtualPath(`/${list.join('/')}`)) as [
          VirtualPath,
          VirtualPath,
        ]
        const expected = other.every((segment, index) => segment === names[index])
        expect(isWithin(path, root)).toBe(expected)
      }),
    )
  })

  it('[PC18] a name that merely starts like another is not within it, in either direction', () => {
    check(
      fc.property(normal, name, name, segments, (parent, short, more, below) => {
        const one = childPath(parent, short)
        const longer = `${one}${more}` as VirtualPath
        const deep = below.reduce<VirtualPath>((path, segment) => childPath(path, segment), longer)
        expect([isWithin(deep, one), isWithin(longer, one), isWithin(one, longer)]).toEqual([false, false, false])
      }),
    )
    const [t1, t12] = ['/threads/t1', '/threads/t12'] as [VirtualPath, VirtualPath]
    expect([isWithin(t12, t1), isWithin(t1, t12), isWithin('/threads/t12/a' as VirtualPath, t1)]).toEqual([
      false,
      false,
      false,
    ])
  })

  it('[PC20, PC21] parent, name and child agree on every name', () => {
    check(
      fc.property(normal, name, (directory, child) => {
        const path = childPath(directory, child)
        expect([parentPath(path), baseName(path)]).toEqual([directory, child])
        expect(segmentsOf(path)).toEqual([...segmentsOf(directory), child])
      }),
    )
    const root = '/' as VirtualPath
    expect([parentPath(root), baseName(root), segmentsOf(root)]).toEqual(['/', '', []])
  })
})
