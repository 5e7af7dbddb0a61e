import { readFileSync } from 'node:fs'

import * as core from '@ws/core'
import { expect, it } from 'vitest'

const index = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8')

it('exports each module in one way: all of it, or by names', () => {
  const whole = [...index.matchAll(/^export \* from '(.+)'$/gmu)].map(([, path]) => path)
  const named = [...index.matchAll(/^(?:export|\}).*\bfrom '(.+)'$/gmu)]
    .filter(([line]) => !line.startsWith('export *'))
    .map(([, path]) => path)
  expect(new Set(whole).size).toBe(whole.length)
  expect(whole.filter((path) => named.includes(path))).toEqual([])
})

it('keeps its own helpers to itself', () => {
  expect(
    Object.keys(core).filter((name) => /^(?:checkManagerOptions|managerError|invalidOption)$/u.test(name)),
  ).toEqual([])
})
