/** @module-tag rounds */
import { processorTimeOf } from '@ws/test-fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { isWorkspaceError } from '../../src/errors.ts'
import {
  assertMountPath,
  maxNameBytes,
  maxPathBytes,
  parseMountPath,
  parsePath,
  parseVirtualPath,
  segmentsOf,
  type VirtualPath,
} from '../../src/path/virtual-path.ts'
import { anything, check, name, normal, segments, typed } from './arbitraries.ts'

const root = '/' as VirtualPath
const bytes = (text: string) => Buffer.byteLength(text)
const attempt = <Result>(action: () => Result): Result | undefined => {
  try {
    return action()
  } catch {
    return undefined
  }
}

describe('parseVirtualPath', () => {
  it('throws nothing but a WorkspaceError that can be shown, whatever it is given', () => {
    check(
      fc.property(anything, fc.option(normal, { nil: undefined }), (input, base) => {
        try {
          const path = parseVirtualPath(input as string, { base, operation: 'read' })
          expect(typeof path).toBe('string')
        } catch (error) {
          if (!isWorkspaceError(error)) throw error
          expect(['EINVAL', 'EOUTSIDE', 'ENAMETOOLONG']).toContain(error.code)
          expect(error.operation).toBe('read')
          expect(error.remedy).toBeDefined()
          // a message goes to terminals and logs
          expect(error.message.isWellFormed() && error.message.length < 1000).toBe(true)
          // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
          expect(error.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/u)
        }
      }),
    )
  })

  it('gives paths that hold every invariant of the type', () => {
    check(
      fc.property(anything, normal, (input, base) => {
        const path = attempt(() => parseVirtualPath(input as string, { base }))
        if (path === undefined) return
        expect(path.startsWith('/')).toBe(true)
        expect(path === '/' || !path.endsWith('/')).toBe(true)
        expect(path).not.toContain('\0')
        expect(path.isWellFormed()).toBe(true)
        expect(bytes(path)).toBeLessThanOrEqual(maxPathBytes)
        for (const segment of segmentsOf(path)) {
          expect(['', '.', '..']).not.toContain(segment)
          expect(bytes(segment)).toBeLessThanOrEqual(maxNameBytes)
        }
      }),
    )
  })

  it('is idempotent, and its results are the paths that adapters accept', () => {
    check(
      fc.property(typed, normal, (input, base) => {
        const path = attempt(() => parseVirtualPath(input, { base }))
        if (path === undefined) return
        expect(parseVirtualPath(path, { base })).toBe(path)
        expect(parsePath(path)).toEqual({ path, directory: false })
        expect(() => assertMountPath(path, 'read')).not.toThrow()
      }),
    )
  })

  it('adapters accept no other path', () => {
    check(
      fc.property(anything, (input) => {
        const accepted = attempt(() => (assertMountPath(input as string, 'read'), true)) ?? false
        expect(accepted).toBe(typeof input === 'string' && attempt(() => parseMountPath(input)) === input)
      }),
    )
  })

  it('[PC3] dots, doubled slashes and slashes at the end vanish; a relative path starts at the base', () => {
    check(
      fc.property(
        segments,
        normal,
        fc.array(fc.constantFrom('/', '/./', '//'), { minLength: 7, maxLength: 7 }),
        (...given) => {
          const [names, base, slashes] = given
          const sloppy = names.map((segment, index) => `${segment}${slashes[index] ?? ''}`).join('')
          const [absolute, relative] = [`${slashes.at(-1)}${sloppy}`, sloppy]
          expect(parseVirtualPath(absolute, { base })).toBe(`/${names.join('/')}`)
          expect(parseVirtualPath(relative, { base })).toBe(`/${[...segmentsOf(base), ...names].join('/')}`)
        },
      ),
    )
  })

  it('[PC3] `""` and `.` are the base, `/` and `//` the root of the namespace', () => {
    check(
      fc.property(normal, (base) => {
        for (const input of ['', '.', './', './/.']) expect(parseVirtualPath(input, { base })).toBe(base)
        for (const input of ['/', '//', '/.', '///']) expect(parseVirtualPath(input, { base })).toBe('/')
      }),
    )
  })

  it.each(['/a', 'a', '/', '', '//', '.', 'a/b'])('[PC3] %j does not ask for a directory', (input) => {
    expect(parsePath(input).directory).toBe(false)
  })

  it.each(['/a/', 'a/', 'a/.', 'a//', 'a/b/..'])('[PC3] %j asks for a directory', (input) => {
    expect(parsePath(input).directory).toBe(true)
  })

  it('[PC11, PC19] `..` never climbs above the root, and is refused with a typed error', () => {
    check(
      fc.property(normal, typed, fc.integer({ min: 1, max: 4 }), (base, tail, extra) => {
        const up = '../'.repeat(segmentsOf(base).length + extra)
        for (const input of [`${up}${tail}`, `/../${tail}`]) {
          expect(() => parseVirtualPath(input, { base })).toThrow(expect.objectContaining({ code: 'EOUTSIDE' }))
        }
      }),
    )
  })

  it('[PC19] `..` behind a name is never resolved as text: the name may be a link', () => {
    check(
      fc.property(normal, segments, name, segments, (base, before, link, behind) => {
        const input = [...before, link, '..', ...behind].join('/')
        for (const given of [input, `/${input}`]) {
          expect(() => parseVirtualPath(given, { base })).toThrow(expect.objectContaining({ code: 'EINVAL' }))
          const { path } = parsePath(given, { base })
          const start = given.startsWith('/') ? [] : segmentsOf(base)
          expect(path).toEqual({ segments: [...start, ...before, link, '..', ...behind] })
        }
      }),
    )
  })

  it('[PC19] `..` before the first name goes up from the base, which is no link; behind a name it stays', () => {
    check(
      fc.property(normal, name, fc.integer({ min: 0, max: 6 }), (base, link, ups) => {
        const start = segmentsOf(base)
        const taken = Math.min(ups, start.length)
        const rest = start.slice(0, start.length - taken)
        const up = '../'.repeat(taken)
        expect(parseVirtualPath(`${up}${link}`, { base })).toBe(`/${[...rest, link].join('/')}`)
        expect(parsePath(`${up}${link}/..`, { base }).path).toEqual({ segments: [...rest, link, '..'] })
      }),
    )
  })

  it('[PC20] leading dots of names are kept', () => {
    check(
      fc.property(segments, fc.integer({ min: 1, max: 5 }), name, (before, dots, last) => {
        const dotted = `${'.'.repeat(dots)}${last}`
        if (dotted === '.' || dotted === '..') return
        const path = `/${[...before, dotted, 'x'].join('/')}`
        expect(parseVirtualPath(path)).toBe(path)
      }),
    )
    expect(parseVirtualPath('/.venv/x')).toBe('/.venv/x')
    expect(parseVirtualPath('.venv/x')).toBe('/.venv/x')
  })

  it('[PC21] odd names come back byte for byte', () => {
    check(
      fc.property(segments, name, (before, last) => {
        const path = parseVirtualPath(`/${[...before, last].join('/')}`)
        expect(segmentsOf(path)).toEqual([...before, last])
      }),
    )
  })

  it('limits are counted in bytes of UTF-8, to the byte', () => {
    check(
      fc.property(fc.constantFrom('a', 'é', '語', '🙂'), fc.integer({ min: -2, max: 2 }), (character, more) => {
        const filler = 'f'.repeat(maxNameBytes % bytes(character))
        const longest = character.repeat(Math.floor(maxNameBytes / bytes(character))) + filler
        const given =
          more <= 0 ? longest.slice(filler === '' ? -more * character.length : 0) : `${longest}${'f'.repeat(more)}`
        const parse = () => parseVirtualPath(`/${given}`)
        if (more > 0) expect(parse).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }))
        else expect(parse()).toBe(`/${given}`)
      }),
    )
    const full = `${`/${'n'.repeat(254)}`.repeat(16)}/${'m'.repeat(14)}`
    expect(bytes(full)).toBe(maxPathBytes)
    expect(parseVirtualPath(full)).toBe(full)
    expect(() => parseVirtualPath(`${full}m`)).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }))
    expect(() => parseVirtualPath('m', { base: parseVirtualPath(full.slice(0, -1)) })).toThrow(
      expect.objectContaining({ code: 'ENAMETOOLONG' }),
    )
  })

  it('is quick on hostile input', () => {
    const started = performance.now()
    for (const hostile of [`${'/a'.repeat(120)}\0`, '/'.repeat(100_000), '/..a'.repeat(50_000), '/.'.repeat(100_000)]) {
      attempt(() => parseVirtualPath(hostile, { base: root }))
    }
    expect(performance.now() - started).toBeLessThan(1000)
  })

  it('[RU8] refuses at once a path that is too long to look at', () => {
    for (const hostile of [
      'a/'.repeat(2_000_000),
      './'.repeat(2_000_000),
      'a/../'.repeat(1_000_000),
      'é'.repeat(4_000_000),
    ]) {
      hostile.charCodeAt(1) // made in one piece
      const parse = (): unknown => parseVirtualPath(hostile, { base: root })
      const refuse = (): void => expect(parse).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }))
      expect(processorTimeOf(refuse)).toBeLessThan(20)
    }
    expect(parseVirtualPath('./'.repeat(2000))).toBe('/')
  })
})
