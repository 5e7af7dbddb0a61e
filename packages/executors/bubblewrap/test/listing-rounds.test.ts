/** @module-tag deep */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { countListings, listingPrograms, prepareListings } from './support/listings.ts'
import { needed } from './support/workbench.ts'

/** `WS_LISTING_ROUNDS` lists more often: a line for each program then says what was counted. */
const asked = process.env['WS_LISTING_ROUNDS']
const rounds = Number(asked ?? 100)
const busy = Math.ceil(rounds / 5)
const programs = ['bash', 'zsh', 'python3', 'node', 'git', 'cc'] as const

describeWith([...needed.direct, ...programs.map((name) => component(name))], 'listings at / while signals come', () => {
  let scratch: ScratchDirectory
  let workspace: Workspace
  beforeAll(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-listings-' })
    workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: await createLocalAdapter({ root: scratch.path, owner: scratch.owner }) }],
      executors: [createBubblewrapExecutor({ root: 'direct' })],
    })
    await prepareListings(workspace, { storm: true })
  })
  afterAll(async () => {
    await workspace.close()
    await scratch.remove()
  })

  it.each(listingPrograms)(
    '[HO3] are complete in %s, alone and beside six busy processes',
    {
      timeout: 3_600_000,
    },
    async (program) => {
      const counted = [await countListings(workspace, program, rounds - busy)]
      const others = Array.from({ length: 6 }, () =>
        spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
      )
      try {
        counted.push(await countListings(workspace, program, busy))
      } finally {
        await Promise.all(others.map(end))
      }
      if (asked !== undefined) console.log(program, JSON.stringify(counted))
      for (const counts of counted) {
        for (const [name, { silent, loud }] of Object.entries(counts))
          expect({ name, silent, loud }).toEqual({ name, silent: 0, loud: 0 })
      }
    },
  )
})

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
