import { expect, it } from 'vitest'

import { isHarmless } from '../src/programs/sed.ts'

it.each([
  `/${'[:'.repeat(200_000)}`,
  `s/${'[]x]'.repeat(2_000)}`,
  `s/${'[^]x]'.repeat(1_600)}/`,
  '1,'.repeat(4_000),
  `1${' '.repeat(8_000)}w`,
])('[HO4] a script of sed that takes long to read is refused at once: %#', (script) => {
  const start = performance.now()
  expect(isHarmless(script)).toBe(false)
  expect(isHarmless(script.slice(0, 8_192))).toBe(false)
  expect(performance.now() - start).toBeLessThan(2_000)
})
