import { component, describeWith, deep } from '@ws/test-fixtures'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

import { attempts } from '../../src/escapes/attempts.ts'
import { columnComponents, columns, unavailable } from '../../src/escapes/columns.ts'
import { escapesPath } from '../../src/escapes/command.ts'
import { misdeclared } from '../../src/escapes/judge.ts'
import { runControl, runEscapes } from '../../src/escapes/run.ts'
import { cellOf, missedByControl, parseEscapes, renderEscapes } from '../../src/escapes/table.ts'

const timeout = 120_000
const shared = new Set(attempts.filter((attempt) => attempt.shared === true).map(({ name }) => name))
/** Not every kernel has these calls: the table has their outcome on a kernel that does. */
const ofSomeKernels = '32-bit calls (int 0x80)'
let control: ReturnType<typeof runControl> | undefined
const document = readFileSync(escapesPath, 'utf8')
const table = parseEscapes(document)

describeWith([component('python3'), component('cc')], 'the attempts at escaping', () => {
  it('get out of a plain process: they are attempts indeed', { timeout }, async () => {
    expect(missedByControl(await (control ??= runControl()))).toEqual([])
  })
})

/** Each executor once; the deep tier adds the other place of the root, and weaker strengths. */
const quick: ReadonlySet<string> = new Set(['bubblewrap at /', 'proot at /workspace, Landlock', 'virtual at /'])
/** Its Landlock is that of proot. */
const ofAll = 'sanitize at /, Landlock'

for (const column of columns) {
  const tags = quick.has(column.name) ? [] : [column.name === ofAll ? 'all' : 'deep']
  describeWith(columnComponents(column).map(component), `escapes: ${column.name}`, { tags }, () => {
    it('[LS11, PC13] end as the guarantees declare, field by field, and as the table says', {
      timeout,
      tags: 'rounds',
    }, async () => {
      const report = await runEscapes(column, { raceTime: deep ? 2_500 : 300 })
      expect(misdeclared(report)).toEqual([])
      if (column.name.startsWith('bubblewrap'))
        expect([...report.reached].filter((name) => !shared.has(name))).toEqual([])
      // Another machine may hold less: it is declared then, and the table is about something else.
      if (report.differs.length > 0) return
      const cells = table.get(column.name) ?? new Map<string, string>()
      const isThere = (await (control ??= runControl())).has(ofSomeKernels)
      const seen = new Map(
        attempts.map((attempt) => {
          const told = attempt.name === ofSomeKernels && !isThere ? cells.get(attempt.name) : cellOf(attempt, report)
          return [attempt.name, told]
        }),
      )
      expect(cells, 'run `npm run attack -- --escapes --write`').toEqual(seen)
    })
  })
}

it('the table holds every attempt and every column', () => {
  expect(renderEscapes({ reports: [], before: document })).toBe(document)
  expect(document).not.toContain('?')
  expect(columns.some((column) => unavailable(column) === undefined)).toBe(true)
})
