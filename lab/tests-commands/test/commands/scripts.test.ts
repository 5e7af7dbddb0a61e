import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { judge, writeReport } from './compare.ts'
import { readSections } from './corpus.ts'
import { readScripts, runEach, runInOneSandbox } from './scripts.ts'

/** `npm test` runs every script whose number divides by this. */
const step = 12
/** The share of the scripts that may differ, each of them listed, and the share that must run. */
const mostDiffering = 0.01
const leastRun = 0.85

/** The first lines of the scripts that are known to differ. */
const allowed = new Set([...readSections('differences/scripts.txt').values()].flat())

describeWith([component('bubblewrap')], 'scripts: virtual and bubblewrap', () => {
  const all = readScripts()

  it('[EX1] a part of the scripts do the same, or say that they will not', async () => {
    await compare(all.filter((_, index) => index % step === 0))
  })

  it('[EX1] all scripts do the same, or say that they will not', { tags: ['deep'] }, async () => {
    expect(all.length).toBeGreaterThanOrEqual(150)
    await compare(all)
  })
})

async function compare(scripts: readonly string[]): Promise<void> {
  const expected = await runInOneSandbox(createBubblewrapExecutor(), scripts)
  const outcomes = await runEach(createVirtualExecutor(), scripts)
  const refused: string[] = []
  const differing: string[] = []
  const wrong: string[] = []
  for (const [index, script] of scripts.entries()) {
    const [reference, outcome] = [expected[index], outcomes[index]]
    if (reference === undefined || outcome === undefined) throw new Error(`no outcome of ${script}`)
    const verdict = judge(script, reference, outcome, true)
    if (verdict.kind === 'refused') refused.push(`${script}\n    ${verdict.message}`)
    if (verdict.kind === 'differs') differing.push(`${script}\n    ${verdict.how}`)
    const [first = ''] = script.split('\n')
    if (verdict.kind === 'differs' && !allowed.has(first)) wrong.push(`${script}\n    ${verdict.how}`)
  }
  writeReport('scripts', { count: scripts.length, refused, differing })
  expect(wrong.join('\n')).toBe('')
  expect(differing.length).toBeLessThanOrEqual(Math.ceil(scripts.length * mostDiffering))
  expect(refused.length).toBeLessThanOrEqual(scripts.length * (1 - leastRun))
}
