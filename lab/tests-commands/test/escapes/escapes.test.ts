import { component, describeWith, deep } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { attempts } from '../../src/escapes/attempts.ts'
import { columnComponents, columns, unavailable } from '../../src/escapes/columns.ts'
import { misdeclared } from '../../src/escapes/judge.ts'
import { runControl, runEscapes } from '../../src/escapes/run.ts'
import { cellOf, missedByControl, renderAttempts, renderEscapes } from '../../src/escapes/table.ts'

const timeout = 120_000
const shared = new Set(attempts.filter((attempt) => attempt.shared === true).map(({ name }) => name))
let control: ReturnType<typeof runControl> | undefined

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
    it('[LS11, PC13] end as the guarantees declare, field by field; the table has each', {
      timeout,
      tags: 'rounds',
    }, async () => {
      const report = await runEscapes(column, { raceTime: deep ? 2_500 : 300 })
      expect(misdeclared(report)).toEqual([])
      if (column.name.startsWith('bubblewrap'))
        expect([...report.reached].filter((name) => !shared.has(name))).toEqual([])
      const [head, , ...rows] = rowsOf(renderEscapes([report], await (control ??= runControl())))
      expect(head?.at(-1)).toBe(column.name)
      expect(rows.map((row) => row.at(-1))).toEqual(attempts.map((attempt) => cellOf(attempt, report)))
    })
  })
}

function rowsOf(table: string): string[][] {
  const lines = table.split('\n').filter((line) => line.startsWith('| '))
  return lines.map((line) => line.slice(2, -2).split(' | '))
}

it('the page of the site holds every attempt and field, and a column can be tried', () => {
  const [, , ...rows] = rowsOf(renderAttempts())
  const told = rows.flatMap(([field, names = '']) => names.split('; ').map((name) => `${field} ${name}`))
  const expected = attempts.map(({ field, name, fights }) => `\`${field}\` ${name}${fights === true ? ' *' : ''}`)
  expect(told).toEqual(expected)
  expect(columns.some((column) => unavailable(column) === undefined)).toBe(true)
})
