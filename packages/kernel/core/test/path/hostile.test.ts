import { hostileNames, hostilePaths } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { isWorkspaceError } from '../../src/errors.ts'
import {
  baseName,
  childPath,
  maxNameBytes,
  parsePath,
  parseVirtualPath,
  segmentsOf,
} from '../../src/path/virtual-path.ts'
import { createPathManager } from '../../src/policy/path-manager.ts'

const base = parseVirtualPath('/threads/t1')
const outcomeOf = <Value>(action: () => Value): Value | undefined => {
  try {
    return action()
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return undefined
  }
}

describe('paths that others fell for', () => {
  it('[PC11, PC19] are refused with a typed error, or mean exactly the names that stand in them', () => {
    for (const { kind, value } of hostilePaths()) {
      const path = outcomeOf(() => parseVirtualPath(value, { base }))
      if (path === undefined) continue
      for (const segment of segmentsOf(path)) {
        expect(['', '.', '..'], `${kind}: ${value}`).not.toContain(segment)
        expect(Buffer.byteLength(segment), kind).toBeLessThanOrEqual(maxNameBytes)
      }
      // no decoding, no folding, no trimming
      const names = value.split('/').filter((name) => !['', '.', '..'].includes(name))
      if (names.length > 0) expect(segmentsOf(path).slice(-names.length), kind).toEqual(names)
    }
  })

  it('[PC19] keep `..` behind a name for step-by-step resolution', () => {
    const kept = hostilePaths().flatMap(({ value }) => {
      const path = outcomeOf(() => parsePath(value, { base }))?.path
      return path === undefined || typeof path === 'string' ? [] : [path.segments]
    })
    expect(kept.length).toBeGreaterThan(0)
    for (const segments of kept) expect(segments.indexOf('..')).toBeGreaterThan(0)
  })

  it('[PM2] never make a predicate throw, and never lead out of a root', () => {
    const manager = createPathManager({ workspace: '/threads/t1', output: '/threads/t1/out' })
    for (const { kind, value } of hostilePaths()) {
      expect(typeof manager.isWithinWorkspace(value), kind).toBe('boolean')
      const resolved = outcomeOf(() => manager.resolveWrite(value))
      if (resolved !== undefined) expect(resolved, kind).toMatch(/^\/threads\/t1\/out(?:\/|$)/)
    }
  })
})

describe('names that are hostile and legal', () => {
  it('[PC20, PC21] survive byte for byte', () => {
    for (const { kind, value } of hostileNames()) {
      expect(baseName(parseVirtualPath(childPath(base, value))), kind).toBe(value)
    }
  })
})
