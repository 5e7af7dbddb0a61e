import { describe, expect, it } from 'vitest'

import { mayHold, parseTier, runsIn, tiers } from '../src/tier.ts'
import { tierAt } from '../src/vitest/tier-at.ts'

// in one piece it would be a tag of this file
const moduleTag = (tag: string): string => `/** @module${`-tag ${tag}`} */`

describe('tiers', () => {
  it('run each test once, and rounds also in the deep tier', () => {
    const tiersOf = (...tags: string[]) => tiers.filter((tier) => runsIn(tier, tags))
    expect(tiersOf()).toEqual(['short'])
    expect(tiersOf('all')).toEqual(['all'])
    expect(tiersOf('deep')).toEqual(['deep'])
    expect(tiersOf('all', 'deep')).toEqual(['deep'])
    expect(tiersOf('rounds')).toEqual(['short', 'deep'])
    expect(tiersOf('all', 'rounds')).toEqual(['all', 'deep'])
  })

  it('do not collect a file that holds none of their tests', () => {
    const holders = (text: string) => tiers.filter((tier) => mayHold(tier, text))
    expect(holders("it('works', () => {})")).toEqual(['short'])
    expect(holders(moduleTag('deep'))).toEqual(['deep'])
    expect(holders(moduleTag('all'))).toEqual(['all', 'deep'])
    expect(holders(moduleTag('rounds'))).toEqual(['short', 'deep'])
    expect(holders("it('works', { tags: 'deep' }, () => {})")).toEqual(['short', 'deep'])
    expect(holders("it('works', { tags: ['all', 'rounds'] }, () => {})")).toEqual(['short', 'all', 'deep'])
    expect(holders("it('works', { tags: tagsOn(name) }, () => {})")).toEqual(['short', 'all', 'deep'])
  })

  it('have names, and an unknown one is an error that lists them', () => {
    expect(parseTier('all')).toBe('all')
    expect(() => parseTier('quick')).toThrow('there is no tier `quick`: use short, all, deep')
  })

  it.each([
    ["of the group's", "describe('a group', { tags: 'all' }, () => {\n  it('named', () => {\n", 'all'],
    [
      "not the neighbour's",
      "it('one', { tags: 'all' }, () => {})\nit('named', () => {\n  run({ tags: 'deep' })\n})",
      'short',
    ],
    ['in options on lines of their own', "it(\n  'named',\n  {\n    tags: ['deep'],\n  },\n  () => {},\n)", 'deep'],
    [
      'at the end',
      "itWith(\n  needs,\n  'named',\n  () => {\n    run({ tags: 'deep' })\n  },\n  { tags: 'all' },\n)",
      'all',
    ],
    ['that depend on a value', "it('named', { tags: deep ? ['deep'] : [] }, () => {})", 'short'],
  ])('are found in the text of a test file: tags %s', (_, text, tier) => {
    const lines = text.split('\n')
    expect(
      tierAt(
        lines,
        lines.findIndex((line) => line.includes("'named'")),
      ),
    ).toBe(tier)
  })
})
