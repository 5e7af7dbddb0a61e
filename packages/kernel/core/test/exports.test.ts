import { readFileSync } from 'node:fs'

import * as core from '@ws/core'
import * as adapter from '@ws/core/adapter'
import * as executor from '@ws/core/executor'
import * as options from '@ws/core/options'
import { expect, it } from 'vitest'

const doors = { index: core, adapter, executor, options }

it.each(Object.keys(doors))('%s exports each module in one way: all of it, or by names', (door) => {
  const text = readFileSync(new URL(`../src/${door}.ts`, import.meta.url), 'utf8')
  const whole = [...text.matchAll(/^export (?:type )?\* from '(.+)'$/gmu)].map(([, path]) => path)
  const named = [...text.matchAll(/^(?:export|\}).*\bfrom '(.+)'$/gmu)]
    .filter(([line]) => !/^export (?:type )?\*/u.test(line))
    .map(([, path]) => path)
  expect(new Set(whole).size).toBe(whole.length)
  expect(whole.filter((path) => named.includes(path))).toEqual([])
})

it('exports each name at one door', () => {
  const names = Object.values(doors).flatMap((door) => Object.keys(door))
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

it('keeps its own helpers to itself', () => {
  expect(
    Object.keys(core).filter((name) => /^(?:checkManagerOptions|managerError|invalidOption)$/u.test(name)),
  ).toEqual([])
})
