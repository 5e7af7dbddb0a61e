import { readlinkSync } from 'node:fs'

import { createLocalAdapter } from '@ws/adapter-local'
import { onDisk, processesWith } from '@ws/test-fixtures'
import { afterAll, assert, expect, it } from 'vitest'

import { collectTests, storesBeside, testExecutor, testWorkspace } from '@ws/conformance'
import { createNakedExecutor } from './naked-executor.ts'

/** One test each of what an executor that isolates nothing breaks. */
const broken = [
  'fileContent: nothing outside the mounts is read',
  'fileContent: nothing outside the mounts is changed',
  'fileContent: links lead nowhere outside',
  'fileMetadata: an outside path cannot be told from a missing one',
  'sockets: no socket of the host is reached',
  'network: no network is reached',
  'processes: none of the host is seen or signalled',
  '[RP16] holds nothing of this process',
  'a timeout ends everything that the command started',
  'nothing that the command started survives its normal end',
  'subtrees: a protected part is neither changed nor given away',
  'deniedSubtrees: a protected part is neither changed nor given away',
  'is neither read nor changed by › cat work/private/key;',
  'is neither read nor changed by › cp -r work copied;',
  'is neither read nor changed by › mv work/private p;',
  'is neither read nor changed by › mv work moved;',
  'is neither read nor changed by › rm -rf work/private;',
  '[PM2, PM5, X13] outside the output root is refused at both doors, inside goes on',
  'is denied through links, aliases and `..`',
]

/** The failed ones of the tests whose titles have one of the parts. */
async function failing(parts: readonly string[]): Promise<string[]> {
  const failed: string[] = []
  const create = async () => {
    let project = ''
    const fixture = await onDisk(
      createNakedExecutor(() => project),
      createLocalAdapter,
      storesBeside,
    )
    return {
      ...fixture,
      async createStore(name: string) {
        const store = await fixture.createStore(name)
        if (name !== 't1') return store
        project = store.hostPath?.('/' as Parameters<NonNullable<typeof store.hostPath>>[0]) ?? ''
        projects.push(project)
        return store
      },
    }
  }
  const tests = collectTests((runner) => {
    for (const suite of [testExecutor, testWorkspace]) suite({ name: 'naked', create, roots: ['/workspace'] }, runner)
  })
  for (const part of parts) {
    const test = tests.find(({ title }) => title.includes(part))
    assert(test !== undefined, `no test is called: ${part}`)
    if ((await test.run()).state === 'failed') failed.push(part)
  }
  return failed
}

/** Host paths of the directories in which commands ran. */
const projects: string[] = []

function isOwn(pid: number): boolean {
  try {
    const directory = readlinkSync(`/proc/${pid}/cwd`)
    return projects.some((project) => directory.startsWith(project))
  } catch {
    return false // it ended meanwhile
  }
}

afterAll(() => {
  for (const { pid, commandLine } of processesWith('echo x >> beat')) {
    // the directory tells it from those of other tests
    if (commandLine.includes('while :') && isOwn(pid)) process.kill(pid, 'SIGKILL')
  }
})

it('[PC18] [PC19] [RP6] [RP16] the kit catches an executor that isolates nothing', { timeout: 60_000 }, async () => {
  expect(await failing(broken)).toEqual(broken)
})
