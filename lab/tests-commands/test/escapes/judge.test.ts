import { type GuaranteeLevel, type Guarantees, guaranteeFields } from '@ws/core/executor'
import { describe, expect, it } from 'vitest'

import { type Attempt, attempts } from '../../src/escapes/attempts.ts'
import { misdeclared, unluckyIn, type Verdict } from '../../src/escapes/judge.ts'
import { cellOf, missedByControl } from '../../src/escapes/table.ts'

const fields = guaranteeFields.filter((field) => field !== 'apiRules')
const levels: readonly GuaranteeLevel[] = ['kernel', 'interpreter', 'translated', 'none']

const at = (level: GuaranteeLevel): Guarantees =>
  Object.fromEntries(guaranteeFields.map((field) => [field, level])) as Record<string, GuaranteeLevel> as never

const inField = (field: string) => attempts.filter((attempt) => attempt.field === field && attempt.shared !== true)
const namesOf = (list: readonly Attempt[]) => list.map(({ name }) => name)

/** A report in which every field is held but one, in which these got out. */
function report(field: keyof Guarantees, level: GuaranteeLevel, reached: readonly string[]): Verdict {
  return { guarantees: { ...at('kernel'), [field]: level }, reached: new Set(reached), unfinished: [] }
}

describe('the judge of the escapes', () => {
  it('has attempts to judge in every field, and the names of all differ', () => {
    for (const field of fields) expect(inField(field).length, field).toBeGreaterThan(0)
    expect(new Set(namesOf(attempts)).size).toBe(attempts.length)
  })

  it('is content where nothing gets out and nothing was to', () => {
    for (const level of ['kernel', 'interpreter'] as const)
      expect(misdeclared({ guarantees: at(level), reached: new Set(), unfinished: [] })).toEqual([])
  })

  for (const field of fields) {
    it(`[PC13] complains of each attempt that is worse than declared, and of none of another field: ${field}`, () => {
      for (const { name, fights } of inField(field)) {
        for (const level of levels) {
          const complaint = `${field} is declared \`${level}\`, but \`${name}\` got out`
          const allowed = level === 'none' || (level === 'translated' && fights === true)
          const problems = misdeclared(report(field, level, [name]))
          expect(problems, `${level}: ${name}`).toEqual(allowed ? [] : [complaint])
        }
      }
    })

    it(`[PC13] complains of what is better than declared, where no luck decides: ${field}`, () => {
      const lucky = inField(field).some(({ luck }) => luck === true)
      for (const level of levels) {
        const better = `${field} is declared \`${level}\`, but nothing got out: it is better than that`
        const complains = level === 'none' || (level === 'translated' && !lucky)
        expect(misdeclared(report(field, level, [])), level).toEqual(complains ? [better] : [])
      }
    })
  }

  it('complains of every field at once, and of programs that did not end', () => {
    const reached = new Set(namesOf(attempts))
    expect(misdeclared({ guarantees: at('kernel'), reached, unfinished: ['calls.c'] })).toEqual([
      'calls.c did not come to its end',
      ...fields.flatMap(inField).map(({ name, field }) => `${field} is declared \`kernel\`, but \`${name}\` got out`),
    ])
    const none = misdeclared({ guarantees: at('none'), reached: new Set(), unfinished: [] })
    expect(none).toHaveLength(fields.length)
  })

  it('[PC13] calls shared what lies in the workspace, and holds it against no level', () => {
    const shared = attempts.filter((attempt) => attempt.shared === true)
    expect(shared).not.toEqual([])
    for (const attempt of shared) {
      expect(misdeclared(report(attempt.field, 'kernel', [attempt.name]))).toEqual([])
      expect(misdeclared(report(attempt.field, 'none', [attempt.name]))).not.toEqual([])
      expect(cellOf(attempt, report(attempt.field, 'kernel', [attempt.name]))).toBe('shared')
      expect(cellOf(attempt, report(attempt.field, 'kernel', []))).toBe('blocked')
    }
  })

  it('tells of luck only where a fight may be won: cells are the same in each run', () => {
    for (const attempt of attempts.filter(({ shared }) => shared !== true)) {
      for (const level of levels) {
        const lost = cellOf(attempt, report(attempt.field, level, []))
        const won = cellOf(attempt, report(attempt.field, level, [attempt.name]))
        if (attempt.luck === true && level === 'translated') expect([lost, won]).toEqual(['**by luck**', '**by luck**'])
        else if (attempt.luck === true && level === 'none') expect([lost, won]).toEqual(['', ''])
        else expect([lost, won]).toEqual(['blocked', '**out**'])
      }
    }
    const field = 'fileMetadata'
    const lucky = namesOf(inField(field).filter(({ luck }) => luck === true))
    expect(unluckyIn(report(field, 'translated', []))).toEqual(lucky)
    expect(unluckyIn(report(field, 'translated', lucky))).toEqual([])
    expect(unluckyIn(report(field, 'kernel', []))).toEqual([])
  })
})

describe('the judge of the control', () => {
  const every = new Set(namesOf(attempts))
  const missed = missedByControl(new Set())

  it('complains of a control that reaches nothing, in each field that a plain process can leave', () => {
    const fieldsOfMissed = new Set(missed.map((name) => attempts.find((attempt) => attempt.name === name)?.field))
    expect(fieldsOfMissed).toEqual(new Set(['fileContent', 'fileMetadata', 'network', 'processes', 'sockets']))
    expect(missed.length).toBeGreaterThan(attempts.length / 3)
  })

  it('complains of each attempt that does not get out of a plain process, and of nothing where all do', () => {
    expect(missedByControl(every)).toEqual([])
    for (const name of missed) {
      const others = new Set(every)
      others.delete(name)
      expect(missedByControl(others)).toEqual([name])
    }
  })
})
