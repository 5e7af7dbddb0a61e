import { expect, it } from 'vitest'

import { isHarmless as isHarmlessAwk } from '../src/programs/awk.ts'
import { isHarmless as isHarmlessSed } from '../src/programs/sed.ts'

it.each([
  ['awk', isHarmlessAwk, `${'\n'.repeat(200_000)}1/`],
  ['awk', isHarmlessAwk, 'print '.repeat(100_000)],
  ['awk', isHarmlessAwk, '1/'.repeat(200_000)],
  ['sed', isHarmlessSed, `/${'[:'.repeat(200_000)}`],
] as const)('[HO4] a script of %s that takes long to read is refused at once', (_, isHarmless, script) => {
  const start = performance.now()
  expect(isHarmless(script)).toBe(false)
  expect(isHarmless(script.slice(0, 8_192))).toEqual(expect.any(Boolean))
  expect(performance.now() - start).toBeLessThan(5_000)
})
