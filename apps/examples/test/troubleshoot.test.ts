import { readFileSync } from 'node:fs'

import { errorCodes } from '@ws/core'
import { expect, it } from 'vitest'

it('[PC11] the page on errors has a section for each code, and for no other', () => {
  const page = readFileSync(new URL('../../../docs/guides/troubleshoot.md', import.meta.url), 'utf8')
  const sections = [...page.matchAll(/^## (\w+)$/gmu)].map(([, code]) => code)
  expect(new Set(sections)).toEqual(new Set(errorCodes))
  expect(sections).toHaveLength(errorCodes.length)
})
