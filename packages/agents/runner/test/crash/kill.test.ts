import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { beforeAll, describe, expect, it } from 'vitest'
import { deep } from '@ws/test-fixtures'

import { openLocalState } from '../../src/state/local.ts'
import { createSite, treeOf, type Site } from '../support.ts'

const program = fileURLToPath(new URL('run-plan.ts', import.meta.url))
const moments = deep ? 6 : 1

/** Runs the plan in a process of its own; with `killAfter` until so many milliseconds after it began. */
async function run(
  site: Site,
  mode: 'fresh' | 'resume',
  killAfter?: number,
): Promise<{ output: string; took: number }> {
  const args = [site.workspace, site.output, site.state, join(site.directory, 'log'), mode]
  const child = spawn(process.execPath, ['--conditions=@ws/source', program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const closed = once(child, 'close')
  child.stdout.setEncoding('utf8')
  await Promise.race([once(child.stdout, 'data'), closed])
  const started = performance.now()
  child.stdout.on('data', (chunk: string) => (output += chunk))
  try {
    if (killAfter !== undefined) {
      await Promise.race([delay(killAfter), closed])
      child.kill('SIGKILL')
    }
    await closed
  } finally {
    child.kill('SIGKILL')
  }
  return { output, took: performance.now() - started }
}

const linesOf = async (site: Site): Promise<string[]> =>
  (await readFile(join(site.directory, 'log'), 'utf8').catch(() => '')).split('\n').filter(Boolean)

/** The steps that the journal calls ended. */
async function finished(site: Site): Promise<string[]> {
  const { journal, close } = await openLocalState({ directory: site.state, mounted: [] })
  try {
    const last = await journal.lastRun()
    if (last === undefined) return []
    return (await journal.records(last.runId)).filter(({ state }) => state === 'ended').map(({ stepId }) => stepId)
  } finally {
    await close()
  }
}

describe('a run that is killed', () => {
  let undisturbed: Record<string, string> = {}
  let took = 0

  beforeAll(async () => {
    await using site = await createSite()
    const whole = await run(site, 'fresh')
    expect(whole.output).toContain('done')
    undisturbed = await visible(site)
    took = whole.took
  }, 120_000)

  // moments by the golden ratio: spread evenly, and the same in each run
  it.each(Array.from({ length: moments }, (_, index) => ((index + 1) * 0.618_034) % 1))(
    'resumes at %f of its time: every file is there, and no finished step ran twice',
    { tags: 'rounds', timeout: 120_000 },
    async (moment) => {
      await using site = await createSite()
      await run(site, 'fresh', took * moment)
      const before = await linesOf(site)
      const done = await finished(site)
      // a run that was killed before it began, or after its end, has nothing to resume
      const { output } = await run(site, 'resume')
      if (output.includes('no run to resume')) await run(site, 'fresh')
      else expect(output).toContain('done')
      const again = (await linesOf(site)).slice(before.length)
      expect(again.filter((step) => done.includes(step))).toEqual([])
      expect(await visible(site)).toEqual(undisturbed)
    },
  )

  it('resumes again and again', { tags: 'deep', timeout: 120_000 }, async () => {
    await using site = await createSite()
    for (let kills = 0; kills < 3; kills += 1) await run(site, kills === 0 ? 'fresh' : 'resume', took / 4)
    await run(site, 'resume')
    expect(await visible(site)).toEqual(undisturbed)
  })
})

/** The output without temporary files of the killed process: the local adapter removes those some minutes later. */
async function visible(site: Site): Promise<Record<string, string>> {
  const entries = Object.entries(await treeOf(site.output))
  return Object.fromEntries(entries.filter(([path]) => !path.includes('.ws-tmp-')))
}
