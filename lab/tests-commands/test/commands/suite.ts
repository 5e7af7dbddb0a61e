import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, type ComponentName, describeWith } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { judge, writeReport } from './compare.ts'
import { readCorpus, readSections } from './corpus.ts'
import { createRunner, type Outcome, type Runner, usualRoot } from './executors.ts'

export interface Subject {
  readonly name: string
  readonly components: readonly ComponentName[]
  /** @param at the place of the mount that holds the fixture */
  create(at: string): Promise<Runner>
  /** Its programs are its own, with messages of their own. Default false. */
  readonly ownPrograms?: boolean
  /** One-liners that it can run. Default all. */
  readonly runs?: (line: string) => boolean
  /** The share of the one-liners that it must run and not refuse, from 0 to 1. */
  readonly leastRun: number
}

/** Another form of the one-liners. */
export interface Variant {
  readonly title: string
  readonly at: string
  rewrite(line: string): string
}

export const inExecutor = (create: () => Executor) => (at: string) => createRunner(create(), at)

/**
 * Runs the corpus in bubblewrap and in other executors, each one-liner over equal copies of one tree, and compares. No
 * difference is allowed but those in `differences/NAME.txt`, which must still be there. Refusals and differences are listed
 * by {@link writeReport}.
 */
export function compareWithBubblewrap(subjects: readonly Subject[], variant?: Variant): void {
  const { at, rewrite } = variant ?? { at: usualRoot, rewrite: (line: string) => line }
  const form = variant === undefined ? '' : `, ${variant.title}`
  const names = subjects.map(({ name }) => name).join(', ')
  const comparisons = subjects.map((subject) => new Comparison(subject))
  const components = new Set(['bubblewrap' as const, ...subjects.flatMap((subject) => subject.components)])

  describeWith(
    [...components].map(component),
    `commands: bubblewrap and ${names}${form}`,
    { tags: [variant === undefined ? 'rounds' : 'deep'] },
    () => {
      let reference: Runner
      beforeAll(async () => {
        reference = await createRunner(createBubblewrapExecutor(), at)
        for (const one of comparisons) await one.open(at)
      })
      afterAll(async () => {
        await reference[Symbol.asyncDispose]()
        for (const one of comparisons) await one.end(form)
      })

      for (const [theme, all] of readCorpus()) {
        const lines = all.filter((line) => comparisons.some((one) => one.runs(line)))
        it.runIf(lines.length > 0)(
          `[EX1] ${theme}: all do the same, or say that they will not`,
          { timeout: 600_000 },
          async () => {
            const wrong: string[] = []
            for (const line of lines) {
              const written = rewrite(line)
              const expected = reference.run(written)
              const compared = await Promise.all(comparisons.map((one) => one.compare(line, written, expected)))
              wrong.push(...compared.flat())
            }
            expect(wrong.join('\n')).toBe('')
          },
        )
      }

      it.each(comparisons)('[EX1] $subject.name runs its share of them', ({ subject, refused, count }) => {
        expect(refused.length).toBeLessThanOrEqual(count * (1 - subject.leastRun))
      })
    },
  )

  if (variant !== undefined) return
  it.each(comparisons)('each difference that is allowed for $subject.name is in the corpus, once', ({ allowed }) => {
    const known = new Set([...readCorpus({ all: true }).values()].flat())
    expect([...allowed].filter((line) => !known.has(line))).toEqual([])
  })
}

/** The outcomes of one subject. */
class Comparison {
  readonly subject: Subject
  readonly allowed: ReadonlySet<string>
  readonly refused: string[] = []
  readonly #differing: string[] = []
  #runner: Runner | undefined
  count = 0

  constructor(subject: Subject) {
    this.subject = subject
    this.allowed = new Set([...readSections(`differences/${subject.name}.txt`).values()].flat())
  }

  async open(at: string): Promise<void> {
    this.#runner = await this.subject.create(at)
  }

  runs(line: string): boolean {
    return this.subject.runs?.(line) ?? true
  }

  /**
   * @param line as the corpus has it
   * @param written as it is run
   * @returns the mistakes
   */
  async compare(line: string, written: string, reference: Promise<Outcome>): Promise<readonly string[]> {
    if (!this.runs(line)) return []
    if (this.#runner === undefined) throw new Error('it is not open')
    const [expected, outcome] = await Promise.all([reference, this.#runner.run(written)])
    if (expected.refused !== undefined) throw new Error(`bubblewrap refuses ${written}: ${expected.refused}`)
    const { name, ownPrograms = false } = this.subject
    const verdict = judge(written, expected, outcome, ownPrograms)
    const isAllowed = this.allowed.has(line)
    this.count++
    if (verdict.kind === 'refused') this.refused.push(entry(written, verdict.message))
    if (verdict.kind === 'differs') this.#differing.push(entry(written, verdict.how))
    if (verdict.kind === 'differs' && !isAllowed) return [`${name}: ${written}\n    ${verdict.how}`]
    if (verdict.kind !== 'differs' && isAllowed)
      return [`${line}\n    does not differ: take it off differences/${name}.txt`]
    return []
  }

  /** Closes it, and writes its report. */
  async end(form: string): Promise<void> {
    await this.#runner?.[Symbol.asyncDispose]()
    writeReport(`${this.subject.name}${form}`, { count: this.count, refused: this.refused, differing: this.#differing })
  }
}

function entry(line: string, why: string): string {
  return `${line}\n${why}`.replaceAll('\n', '\n\t')
}
