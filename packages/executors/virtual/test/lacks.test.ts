import { expect, it } from 'vitest'

import { lacksOf, missingPrograms } from '../src/lacks.ts'
import { commandRules } from '../src/worker/guard/rules.ts'

it('says what the tables of commands do not have', () => {
  const there = missingPrograms.filter((name) => typeof commandRules[name] === 'object')
  expect(there).toEqual(['curl'])
  expect(lacksOf(false)).toContain('curl')
  expect(lacksOf(true)).not.toContain('pip, make, curl')
})
