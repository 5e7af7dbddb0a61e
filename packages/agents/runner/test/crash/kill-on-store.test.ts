/** @module-tag deep */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { createS3Adapter } from '@ws/adapter-s3'
import { createScratchDirectory } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it } from 'vitest'

import { openObjectJournal } from '../../src/state/objects.ts'
import { filesOf } from '../state/support.ts'
import { crashPlan } from './plan.ts'

const program = fileURLToPath(new URL('run-on-store.ts', import.meta.url))

interface Kill {
  /** The number of lines that it has printed. */
  readonly at?: number
  /** Milliseconds from its first line. */
  readonly after?: number
}

/** Runs the program, until it is killed or ends. Gives all that it printed. */
async function run(args: readonly string[], { at = Infinity, after }: Kill = {}): Promise<string> {
  const child = spawn(process.execPath, ['--conditions=@ws/source', program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  const lines: string[] = []
  let errors = ''
  let timer: NodeJS.Timeout | undefined
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk))
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    if (lines.length >= at) child.kill('SIGKILL')
    if (lines.length === 1 && after !== undefined) timer = setTimeout(() => child.kill('SIGKILL'), after)
  })
  await closed
  clearTimeout(timer)
  return `${lines.join('\n')}${errors}`
}

// on this machine the lease of a dead process is free at once
it('a run that is killed resumes from its bucket in another process, and no finished step runs twice', async () => {
  const server = await sharedS3Server('r2')
  const scratch = await createScratchDirectory({ prefix: 'runner-' })
  const { endpoint, region, credentials, bucket } = server
  const log = join(scratch.path, 'log')
  const args = [JSON.stringify({ endpoint, region, credentials, bucket }), log, '30']
  const linesOf = async (): Promise<string[]> => (await readFile(log, 'utf8')).split('\n').filter(Boolean)
  const open = (prefix: string) => createS3Adapter({ client: server.client({ maxAttempts: 1 }), bucket, prefix })
  try {
    await run(args, { at: 14 })
    const before = await linesOf()
    await using state = await open('team/state')
    const journal = await openObjectJournal(state)
    const records = await journal.records((await journal.lastRun())?.runId ?? '')
    const done = records.filter((record) => record.state === 'ended').map(({ stepId }) => stepId)
    expect(done.length).toBeGreaterThan(3)
    expect(done.length).toBeLessThan(30)

    expect(await run([...args, 'resume'])).toContain('run done')
    const again = (await linesOf()).slice(before.length)
    expect(again.filter((step) => done.includes(step))).toEqual([])
    expect(new Set([...before, ...again]).size).toBe(30)
    await using output = await open('team/out')
    const expected = crashPlan.steps.map(({ with: { name, files } }) => [`/${name}/0.txt`, `${name} of ${files}\n`])
    expect(await filesOf(output)).toEqual(Object.fromEntries(expected))
  } finally {
    await server.close()
    await scratch.remove()
  }
})

it('30 steps end under a kill every 3 s, and no resume meets the lease of the dead', async () => {
  const server = await sharedS3Server('r2')
  const scratch = await createScratchDirectory({ prefix: 'runner-' })
  const { endpoint, region, credentials, bucket } = server
  const log = join(scratch.path, 'log')
  const args = [JSON.stringify({ endpoint, region, credentials, bucket }), log, '30']
  let kills = 0
  try {
    for (let printed = ''; !printed.includes('run done'); kills += 1) {
      printed = await run(kills === 0 ? args : [...args, 'resume'], { after: 3000 })
      expect(printed).not.toContain('EBUSY')
    }
    const began = (await readFile(log, 'utf8')).split('\n').filter(Boolean)
    expect(new Set(began).size).toBe(30)
    // three run at a time, and an end is noted once
    expect(began.length).toBeLessThanOrEqual(30 + 3 * kills)
  } finally {
    await server.close()
    await scratch.remove()
  }
})
