import { expect, it } from 'vitest'

import { lacks, missingPrograms } from '../src/lacks.ts'
import { commandRules } from '../src/worker/guard/rules.ts'

it('says what the tables of commands do not have', () => {
  const there = missingPrograms.filter((name) => typeof commandRules[name] === 'object')
  expect(there).toEqual([])
  expect(lacks).toContain('no `diff` but `diff -q`')
  expect(commandRules['diff']).toMatchObject({ flags: 'q' })
})
