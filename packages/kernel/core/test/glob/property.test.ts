/** @module-tag rounds */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileGlob, isWorkspaceError } from '../../src/index.ts'
import { check } from '../path/arbitraries.ts'

/** A glob as its parts, so that the slow matcher needs no parser. */
type Token = { readonly text: string; readonly one?: (character: string) => boolean } | readonly Glob[]
type Glob = readonly Token[]

const slash = { text: '/' }
const star = { text: '*' }
const literals = ['a', 'b', 'A', '.', '-', '😀'].map((text) => ({ text, one: (it: string) => it === text }))
const classes = [
  { text: '[ab]', one: (it: string) => it === 'a' || it === 'b' },
  { text: '[!a-b]', one: (it: string) => it !== 'a' && it !== 'b' },
  { text: '[^😀.]', one: (it: string) => it !== '😀' && it !== '.' },
]
const anyOne = { text: '?', one: () => true }
const escaped = ['*', '{', '\\', '!'].map((text) => ({ text: `\\${text}`, one: (it: string) => it === text }))

const { glob } = fc.letrec<{ glob: Glob; token: Token; braces: Token }>((tie) => ({
  glob: fc.array(tie('token'), { maxLength: 7 }),
  token: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 8, arbitrary: fc.constantFrom<Token>(...literals, slash, star, star, star) },
    { weight: 3, arbitrary: fc.constantFrom<Token>(...literals, slash, slash, anyOne, ...classes, ...escaped) },
    { weight: 1, arbitrary: tie('braces') },
  ),
  braces: fc.array(tie('glob'), { minLength: 2, maxLength: 3 }),
}))

const name = fc.array(fc.constantFrom('a', 'b', 'A', '.', '-', '😀', '*', '{', '!'), { minLength: 1, maxLength: 4 })
const names = fc.array(name, { maxLength: 4 })

describe('[RU4] a glob', () => {
  it('matches as a slow matcher does that tries everything', () => {
    let matched = 0
    check(
      fc.property(glob, fc.array(names, { minLength: 1, maxLength: 8 }), (tokens, paths) => {
        const pattern = render(tokens)
        const expanded = expand(tokens)
        // larger ones may be refused for their wildcards, of which 300 are taken
        if (expanded.length > 30 || expanded.flat().length > 300) return
        if (pattern === '' || pattern.startsWith('!') || !expanded.every(isMeaningful)) {
          expect(() => compileGlob(pattern)).toThrow(expect.toSatisfy((it) => isWorkspaceError(it, 'EINVAL')))
          return
        }
        const compiled = compileGlob(pattern)
        for (const path of paths) {
          const text = pathOf(path)
          const matches = expanded.some((one) => slowly(one, path))
          expect([text, compiled.matches(text)]).toEqual([text, matches])
          if (!matches) continue
          matched += 1
          for (let above = 0; above < path.length; above += 1) {
            expect(compiled.mayMatchBelow(pathOf(path.slice(0, above)))).toBe(true)
          }
        }
      }),
    )
    expect(matched).toBeGreaterThan(50)
  })

  it('with foldCase matches every spelling of a path that it matches', () => {
    const letters = ['a', 'ß', 'ss', 'Σ', 'ς', 'é', 'e\u0301', 'K', '\u212a', '.', 'x']
    const word = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 5 }).map((it) => it.join(''))
    check(
      fc.property(word, fc.constantFrom('x', '*', '**/x', '?'), fc.constantFrom('', '*'), (text, before, after) => {
        const { matches } = compileGlob(`${before}${text}${after}`, { foldCase: true })
        for (const spelling of [text, text.toUpperCase(), text.toLowerCase(), text.normalize('NFD')]) {
          const start = before === '*' ? '' : 'x'
          expect(matches(`/dir/${start}${spelling}`), spelling).toBe(true)
        }
      }),
    )
  })
})

function render(tokens: Glob): string {
  return tokens.map((token) => ('text' in token ? token.text : `{${token.map(render).join(',')}}`)).join('')
}

interface Simple {
  readonly text: string
  readonly one?: (character: string) => boolean
}

/** The globs that braces expand to. */
function expand(tokens: Glob): Simple[][] {
  return tokens.reduce<Simple[][]>(
    (found, token) => {
      const nexts = 'text' in token ? [[token]] : token.flatMap(expand)
      return found.flatMap((one) => nexts.map((next) => [...one, ...next]))
    },
    [[]],
  )
}

function components(tokens: readonly Simple[]): Simple[][] {
  const found: Simple[][] = [[]]
  for (const token of tokens) {
    if (token === slash) found.push([])
    else found.at(-1)?.push(token)
  }
  const isRooted = tokens[0] === slash
  if (isRooted) found.shift()
  if (tokens.at(-1) === slash) found.splice(-1, 1, [star, star])
  return isRooted ? found : [[star, star], ...found]
}

function isMeaningful(tokens: readonly Simple[]): boolean {
  if (tokens.length === 0) return false
  return components(tokens).every((one) => !['', '.', '..'].includes(one.map(({ text }) => text).join('')))
}

function slowly(tokens: readonly Simple[], path: readonly string[][]): boolean {
  return tokens.length === 0 ? path.length === 0 : directories(components(tokens), path)
}

function directories([first, ...rest]: readonly Simple[][], path: readonly string[][]): boolean {
  if (first === undefined) return path.length === 0
  if (first.length === 2 && first.every((token) => token === star)) {
    if (rest.length === 0) return path.length > 0
    return path.some((_, skipped) => directories(rest, path.slice(skipped)))
  }
  const [next, ...others] = path
  return next !== undefined && characters(first, next) && directories(rest, others)
}

function characters([first, ...rest]: readonly Simple[], text: readonly string[]): boolean {
  if (first === undefined) return text.length === 0
  if (first === star) return [...text, ''].some((_, skipped) => characters(rest, text.slice(skipped)))
  const [next, ...others] = text
  return next !== undefined && first.one?.(next) === true && characters(rest, others)
}

function pathOf(path: readonly string[][]): string {
  return `/${path.map((one) => one.join('')).join('/')}`
}
