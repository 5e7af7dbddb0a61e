/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { type Executor, guaranteeFields, type Guarantees } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, type ComponentName, itWith, onDisk } from '@ws/test-fixtures'
import { afterAll, describe, expect, it } from 'vitest'
import {
  collectTests,
  faults,
  storesBeside,
  testExecutor,
  type TestOutcome,
  testWorkspace,
  type WorkspaceFixture,
} from '@ws/conformance'
import { inMemory } from './in-memory.ts'
import { ownFaults } from './own-faults.ts'

const virtual = createVirtualExecutor()
const bubblewrap = createBubblewrapExecutor()
const keeper = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
  executors: [virtual],
})
afterAll(() => keeper.close())

const none = Object.fromEntries(guaranteeFields.map((field) => [field, 'none'])) as unknown as Guarantees
/** The executor where it cannot run. */
const unavailable: Executor = {
  ...virtual,
  probe: async () =>
    await Promise.resolve({
      available: false,
      guarantees: none,
      missing: ['shellbox is not installed'],
      howToFix: ['apt-get install shellbox'],
      details: {},
    }),
}

/** The tests of both suites whose titles say so. */
async function runKit(
  caughtBy: string,
  root: '/' | '/workspace',
  create: () => WorkspaceFixture | Promise<WorkspaceFixture>,
): Promise<TestOutcome[]> {
  const tests = collectTests((runner) => {
    for (const define of [testExecutor, testWorkspace]) define({ name: 'broken', roots: [root], create }, runner)
  })
  const outcomes: TestOutcome[] = []
  for (const test of tests) if (test.title.includes(caughtBy)) outcomes.push(await test.run())
  return outcomes
}

const failures = (outcomes: readonly TestOutcome[]) => outcomes.filter(({ state }) => state === 'failed')

/** The failures of the tests that catch a fault, on an executor to which it may be applied. */
async function failuresWith(
  fault: faults.ExecutorFault,
  apply: (executor: Executor) => Executor,
): Promise<TestOutcome[]> {
  const isProcess = fault.base === 'process'
  const create = (): WorkspaceFixture | Promise<WorkspaceFixture> => {
    if (fault.on === 'unavailable') return { ...inMemory(virtual), unavailable: apply(unavailable) }
    return isProcess ? onDisk(apply(bubblewrap), createLocalAdapter, storesBeside) : inMemory(apply(virtual))
  }
  return failures(await runKit(fault.caughtBy, isProcess ? '/workspace' : '/', create))
}

async function catches(fault: faults.ExecutorFault): Promise<void> {
  expect((await failuresWith(fault, fault.apply)).length).toBeGreaterThan(0)
}

describe('the kit catches an executor that', () => {
  for (const fault of faults.executors) {
    const needed = fault.base === 'process' ? [component('bubblewrap')] : []
    itWith(needed, `${fault.name}: ${fault.caughtBy}`, () => catches(fault))
  }

  for (const fault of ownFaults) {
    itWith(fault.needs.map(component), `${fault.name}: ${fault.caughtBy}`, () => catches(fault))
  }
})

// `npm test` runs the kit on both executors, but not beside the faults
describe('without the fault', { tags: 'deep' }, () => {
  const all: readonly (faults.ExecutorFault & { readonly needs?: readonly ComponentName[] })[] = [
    ...faults.executors,
    ...ownFaults,
  ]
  for (const fault of all) {
    const needed: readonly ComponentName[] = fault.needs ?? (fault.base === 'process' ? ['bubblewrap'] : [])
    itWith(needed.map(component), `the tests pass that catch it: ${fault.name}`, async () => {
      expect(await failuresWith(fault, (executor) => executor)).toEqual([])
    })
  }
})

describe('the kit catches a workspace that', () => {
  it.each(faults.workspaces)('$name: $caughtBy', async ({ caughtBy, open }) => {
    const outcomes = await runKit(caughtBy, '/', () => ({ ...inMemory(virtual), open }))
    expect(failures(outcomes).length).toBeGreaterThan(0)
    expect(failures(await runKit(caughtBy, '/', () => inMemory(virtual)))).toEqual([])
  })
})

it('names every fault once', () => {
  for (const list of [faults.executors, faults.workspaces]) {
    expect(new Set(list.map(({ name }) => name)).size).toBe(list.length)
  }
})
