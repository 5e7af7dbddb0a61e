/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openLocalState } from '../../src/state/local.ts'

const program = fileURLToPath(new URL('race.ts', import.meta.url))
const attempts = 40

it('two processes on one state directory: one ends each attempt, and the last state is the greatest of all ends', async () => {
  const scratch = await createScratchDirectory({ prefix: 'runner-' })
  try {
    const state = join(scratch.path, 'state')
    const racers = ['a', 'b'].map((name) => {
      const child = spawn(process.execPath, ['--conditions=@ws/source', program, state, name, `${attempts}`])
      let printed = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
      }
      return { child, printed: () => printed, ready: once(child.stdout, 'data'), closed: once(child, 'close') }
    })
    await Promise.all(racers.map(({ ready, closed }) => Promise.race([ready, closed])))
    for (const { child } of racers) child.stdin.write('go')
    await Promise.all(racers.map(({ closed }) => closed))
    const printed = racers.map((racer) => racer.printed())
    expect(
      racers.map(({ child }) => child.exitCode),
      printed.join('\n'),
    ).toEqual([0, 0])
    const won = printed.flatMap((text) => [...text.matchAll(/^won (\d+)$/gmu)].map(([, attempt]) => Number(attempt)))
    expect(won.toSorted((a, b) => a - b)).toEqual(Array.from({ length: attempts }, (_, index) => index + 1))

    const ends = join(state, 'journal/ends')
    const paths = (await readdir(ends, { recursive: true })).filter((path) => path.endsWith('.json'))
    expect(paths).toHaveLength(3 * attempts)
    const lasts = await Promise.all(
      paths.map(async (path) => JSON.parse(await readFile(join(ends, path), 'utf8')).last as { order: number }),
    )
    const { journal, close } = await openLocalState({ directory: state, mounted: [] })
    const last = await journal.last('one')
    expect(last.order).toBe(Math.max(...lasts.map(({ order }) => order)))
    expect(lasts.filter(({ order }) => order === last.order)).toContainEqual({ order: last.order, landed: last.landed })
    expect(await journal.openLandings()).toEqual([])
    await close()
  } finally {
    await scratch.remove()
  }
})
