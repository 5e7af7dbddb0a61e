import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, type ComponentName, describeWith } from '@ws/test-fixtures'
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { judge } from './compare.ts'
import { readCorpus, readSections } from './corpus.ts'
import { createRunner, type Runner, usualRoot } from './executors.ts'

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
  /** Its programs are those of the reference: `npm test` has nothing to find. Default false. */
  readonly deepOnly?: boolean
  /** Runs the one-liners in another form, in addition to the usual one. */
  readonly variant?: { readonly title: string; readonly at: string; rewrite(line: string): string } | undefined
}

export const inExecutor = (create: () => Executor) => (at: string) => createRunner(create(), at)

/**
 * Runs the corpus in bubblewrap and in another executor, each one-liner over equal copies of one tree, and compares. No
 * difference is allowed but those in `differences/NAME.txt`, which must still be there. Refusals and differences are listed
 * in `.test-report/commands/NAME.txt`.
 */
export function compareWithBubblewrap(subject: Subject): void {
  const { name, ownPrograms = false, runs = () => true, leastRun, deepOnly = false, variant } = subject
  const title = variant === undefined ? name : `${name}, ${variant.title}`
  const { at, rewrite } = variant ?? { at: usualRoot, rewrite: (line: string) => line }
  const explained = readSections(`differences/${name}.txt`)
  const allowed = new Set([...explained.values()].flat())
  const corpus = readCorpus()

  describeWith(
    [...subject.components, 'bubblewrap' as const].map(component),
    `commands: ${title} and bubblewrap`,
    { tags: [deepOnly || variant !== undefined ? 'deep' : 'rounds'] },
    () => {
      let reference: Runner
      let runner: Runner
      const refused: string[] = []
      const differing: string[] = []
      let count = 0
      beforeAll(async () => {
        reference = await createRunner(createBubblewrapExecutor(), at)
        runner = await subject.create(at)
      })
      afterAll(async () => {
        await reference[Symbol.asyncDispose]()
        await runner[Symbol.asyncDispose]()
        mkdirSync('.test-report/commands', { recursive: true })
        writeFileSync(
          `.test-report/commands/${title.replaceAll('/', '_')}.txt`,
          `${count} run, ${refused.length} refused, ${differing.length} differ\n\n## refused\n${refused.join('')}\n## differ\n${differing.join('')}`,
        )
      })

      for (const [theme, all] of corpus) {
        const lines = all.filter(runs)
        it.runIf(lines.length > 0)(
          `[EX1] ${theme}: does the same, or says that it will not`,
          { timeout: 300_000 },
          async () => {
            const wrong: string[] = []
            for (const line of lines) {
              const written = rewrite(line)
              const [expected, outcome] = await Promise.all([reference.run(written), runner.run(written)])
              if (expected.refused !== undefined) throw new Error(`bubblewrap refuses ${written}: ${expected.refused}`)
              const verdict = judge(written, expected, outcome, ownPrograms)
              count++
              if (verdict.kind === 'refused') refused.push(entry(written, verdict.message))
              if (verdict.kind === 'differs') differing.push(entry(written, verdict.how))
              if (verdict.kind === 'differs' && !allowed.has(line)) wrong.push(`${written}\n    ${verdict.how}`)
              if (verdict.kind !== 'differs' && allowed.has(line))
                wrong.push(`${line}\n    does not differ: take it off differences/${name}.txt`)
            }
            expect(wrong.join('\n')).toBe('')
          },
        )
      }

      it(`[EX1] runs at least ${leastRun * 100} % of them`, () => {
        expect(refused.length).toBeLessThanOrEqual(count * (1 - leastRun))
      })
    },
  )

  if (variant !== undefined) return
  it(`each difference that is allowed for ${name} is in the corpus, once`, () => {
    const known = new Set([...readCorpus({ all: true }).values()].flat())
    expect([...allowed].filter((line) => !known.has(line))).toEqual([])
  })
}

function entry(line: string, why: string): string {
  return `${line}\n${why}\n`.replaceAll('\n', '\n\t').slice(0, -1)
}
