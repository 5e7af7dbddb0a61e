import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Clauses that read as if they were translated. `there is no` and `is no longer` are English. */
const translated = /(?<!there )\b(?:is|are) no\b(?! longer)|\bthat (?:is|are) none\b|\bof one's own\b/u
const comment = /^\s*(?:\/\/|\/?\*)/u

it('texts that users and models read say "is not a", and never "is no"', () => {
  const found: string[] = []
  for (const file of globSync('{packages,apps}/*/src/**/*.ts', { cwd: root })) {
    for (const [index, line] of readFileSync(join(root, file), 'utf8').split('\n').entries()) {
      if (comment.test(line)) continue
      const texts = line.match(/'[^']*'|"[^"]*"|`[^`]*`/gu) ?? []
      if (texts.some((text) => translated.test(text))) found.push(`${file}:${index + 1}: ${line.trim()}`)
    }
  }
  expect(found).toEqual([])
})
