import { describe, expect, it } from 'vitest'

import { type WorkspaceError, quotePath } from '@ws/core'
import { checkOptions, option, quietly } from '@ws/core/options'
import type { OptionShapes } from '@ws/core/options'

interface Options {
  readonly root: string
  readonly concurrency?: number | undefined
  readonly kind?: 'one' | 'two' | 'three' | undefined
  readonly secret?: string | undefined
  readonly place?: string | undefined
  readonly limits?: { readonly memory?: number | undefined } | undefined
  readonly names?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

const shapes: OptionShapes<Options> = {
  root: option.required(option.text),
  concurrency: option.integer(1, 256),
  kind: option.oneOf('one', 'two', 'three'),
  secret: option.hidden(option.string),
  place: option.hidden(option.of('an absolute path', (value) => String(value).startsWith('/'))),
  limits: option.options({ memory: option.integer(1) }),
  names: option.strings,
  env: option.map(
    option.of('a name', (name) => name !== 'A=B'),
    option.string,
  ),
}

function refusalOf(given: unknown): WorkspaceError {
  try {
    checkOptions<Options>(given, shapes, { operation: 'make', removed: { flushTimeout: 'use `timeouts.flush`' } })
  } catch (error) {
    return error as WorkspaceError
  }
  throw new Error('it was taken')
}

describe('[RU7] options', () => {
  it('that are right are taken, and `undefined` is the same as left out', () => {
    const all = {
      root: '/',
      concurrency: 256,
      kind: 'two',
      secret: 's',
      limits: { memory: 1 },
      names: [],
      env: { A: '' },
    }
    checkOptions<Options>(all, shapes, { operation: 'make' })
    checkOptions<Options>({ root: '/', concurrency: undefined, limits: {} }, shapes, { operation: 'make' })
  })

  it.each([
    [{ root: '/', concurrency: 0 }, '`concurrency` must be an integer from 1 to 256, got `0`'],
    [{ root: '/', concurrency: 1.5 }, '`concurrency` must be an integer from 1 to 256, got `1.5`'],
    [{ root: '/', concurrency: '1' }, '`concurrency` must be an integer from 1 to 256, got `"1"`'],
    [{ root: '/', concurrency: null }, '`concurrency` must be an integer from 1 to 256, got `null`'],
    [{ root: '/', kind: 'four' }, '`kind` must be `one`, `two` or `three`, got `"four"`'],
    [{ root: '/', secret: 7 }, '`secret` must be a string, got a number'],
    [{ root: '/', place: 'home' }, '`place` must be an absolute path, got a string of another form'],
    [{ root: '/', limits: [] }, '`limits` must be an object, got a list'],
    [{ root: '/', limits: { memory: -1 } }, '`limits.memory` must be an integer of at least 1, got `-1`'],
    [{ root: '/', names: ['a', 7] }, '`names[1]` must be a string, got `7`'],
    [{ root: '/', names: 'a' }, '`names` must be a list of strings, got `"a"`'],
    [{ root: '/', env: { 'A=B': '' } }, 'names in `env` must be a name, got `"A=B"`'],
    [{ root: '/', env: { A: {} } }, '`env.A` must be a string, got an object'],
    [{ root: '/', concurrency: () => 1 }, '`concurrency` must be an integer from 1 to 256, got a function'],
    [{}, '`root` must be a string that is not blank, got nothing'],
    [undefined, '`root` must be a string that is not blank, got nothing'],
    [null, '`options` must be an object, got `null`'],
    ['/', '`options` must be an object, got `"/"`'],
  ])('%j is refused with the option, its shape and the value', (given, says) => {
    const { code, operation, reason, remedy } = refusalOf(given)
    expect({ code, operation, reason }).toEqual({ code: 'EINVAL', operation: 'make', reason: says })
    expect(remedy).toBeTruthy()
  })

  it.each([
    ['kinds', 'kind'],
    ['Concurrency', 'concurrency'],
    ['concurency', 'concurrency'],
    ['rot', 'root'],
    ['limit', 'limits'],
    ['concurrencyMax', 'concurrency'],
  ])('the unknown name %s leads to %s', (wrong, right) => {
    const { reason, remedy } = refusalOf({ root: '/', [wrong]: 1 })
    expect(reason).toBe(`\`${wrong}\` is not an option`)
    expect(remedy).toBe(`did you mean \`${right}\`?`)
  })

  it('an unknown name that is like no other leads to the list of options, also inside of an option', () => {
    expect(refusalOf({ root: '/', zzz: undefined }).remedy).toMatch(/^use one of `root`, `concurrency`, .*`env`$/)
    expect(refusalOf({ root: '/', ['__proto__x'.repeat(50)]: 1 }).remedy).toMatch(/^use one of/)
    expect(refusalOf({ root: '/', limits: { memry: 1 } }).message).toBe(
      'EINVAL: make: `limits.memry` is not an option; did you mean `limits.memory`?',
    )
    expect(refusalOf({ root: '/', toString: 1 }).reason).toBe('`toString` is not an option')
    expect(refusalOf({ root: '/', flushTimeout: 1 }).message).toBe(
      'EINVAL: make: `flushTimeout` is not an option any more; use `timeouts.flush`',
    )
    expect(refusalOf({ root: '/', limits: { flushTimeout: 1 } }).reason).toBe('`limits.flushTimeout` is not an option')
  })

  it('a promise is called by its name, with what to do', () => {
    expect(refusalOf({ root: Promise.resolve('/') }).message).toBe(
      'EINVAL: make: `root` must be a string that is not blank, got a promise; pass what it gives: write `await` before it',
    )
  })

  it('a value that is long or hides something is shown cut and escaped', () => {
    expect(refusalOf({ root: '/', kind: 'x'.repeat(5000) }).message.length).toBeLessThan(250)
    expect(refusalOf({ root: '/', kind: 'on\u{200b}e' }).reason).toContain('got `"on\\u{200b}e"`')
  })
})

describe('text in messages', () => {
  const hidden = [
    ...[
      0x00, 0x1b, 0x7f, 0x85, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x2000, 0x200a, 0x200b,
    ],
    ...[0x200d, 0x200e, 0x2028, 0x2029, 0x202e, 0x202f, 0x205f, 0x2060, 0x2064, 0x2066, 0x206f, 0x2800, 0x3000, 0x3164],
    ...[0xe000, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xffff, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100],
    ...[0xe01ef, 0xf0000, 0x10fffd],
  ]
  it.each(hidden.map((code) => [code.toString(16), code] as const))('U+%s is written out', (hex, code) => {
    expect(quotePath(`a${String.fromCodePoint(code)}b`)).toBe(`\`a\\u{${hex}}b\``)
  })

  it('all that can be seen stays: letters of every script, marks, emoji, spaces', () => {
    const shown = 'a b é e\u0301 ß Ж 中文 한글 עברית عربى हिन्दी ไทย 😀 – … `\\'
    expect(quotePath(shown)).toBe(`\`${shown}\``)
  })
})

it('[HO4] a listener that fails changes nothing for the one that calls it', () => {
  const heard: number[] = []
  const listener = quietly((event: number) => {
    heard.push(event)
    throw new Error('mine')
  })
  listener(1)
  quietly<number>(undefined)(2)
  expect(heard).toEqual([1])
})
