import { createVirtualExecutor } from '@ws/executor-virtual'
import { WorkspaceError } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { expect, it } from 'vitest'
import { collectTests, testExecutor, type TestOutcome, type WorkspaceSuiteOptions } from '@ws/conformance'
import { inMemory } from './in-memory.ts'

const virtual = createVirtualExecutor()
const codes = 'give the exit code, and never reject for it'
const missing = 'say that a program is not there with 127'

async function run(
  title: string,
  options: Partial<WorkspaceSuiteOptions>,
  executor = virtual,
): Promise<TestOutcome | undefined> {
  const tests = collectTests((runner) =>
    testExecutor({ name: 'x', roots: ['/'], create: () => inMemory(executor), ...options }, runner),
  )
  return await tests.find((test) => test.title.endsWith(title))?.run()
}

/** Reads commands, and refuses those of one word. */
const reading: Executor = {
  ...virtual,
  async attach(view) {
    const attached = await virtual.attach(view)
    return {
      guarantees: attached.guarantees,
      async spawn(request, plan) {
        if (request.command.includes(' ')) return await attached.spawn(request, plan)
        throw new WorkspaceError({ code: 'EUNENFORCEABLE', operation: 'exec', reason: 'what it does is not known' })
      },
      close: () => attached.close(),
    }
  },
}

it('a departure is a promise that is not kept: skipped with its reason, and wrong where it is kept', async () => {
  const departures = { [missing]: 'commands of one word are not run', [codes]: 'none' }
  expect(await run(missing, { departures }, reading)).toMatchObject({
    state: 'skipped',
    reason: 'departs: commands of one word are not run',
  })
  expect(await run(codes, { departures }, reading)).toMatchObject({ state: 'failed' })
})

it('a departure from what is not promised fails', async () => {
  const last = 'x departs from nothing that is not promised'
  expect(await run(last, { departures: { [missing]: 'one' } })).toMatchObject({ state: 'passed' })
  expect(await run(last, { departures: { 'gives the wrong code': 'one' } })).toMatchObject({ state: 'failed' })
  expect(await run(last, {})).toBeUndefined()
})

it('a refusal is a failed command only where it is said that commands are refused', async () => {
  const failed = await run(missing, { refusesCommands: true }, reading)
  expect(failed?.error).toMatchObject({ actual: 126, expected: 127 })
  expect((await run(missing, {}, reading))?.error).toMatchObject({ code: 'EUNENFORCEABLE' })
})
