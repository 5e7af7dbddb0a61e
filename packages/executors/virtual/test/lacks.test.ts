import { expect, it } from 'vitest'

import { lacksOf, missingPrograms } from '../src/lacks.ts'
import { commandRules } from '../src/worker/guard/rules.ts'

it('says what the tables of commands do not have', () => {
  const there = missingPrograms.filter((name) => typeof commandRules[name] === 'object')
  expect(there).toEqual(['python3', 'curl'])
  expect(lacksOf({ curl: false, python3: false })).toContain('curl')
  expect(lacksOf({ curl: true, python3: false })).not.toContain('pip, make, curl')
})
