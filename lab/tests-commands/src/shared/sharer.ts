import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import type { Owner } from '@ws/test-fixtures'

import { exchangingCommand, type SharedPlan, sharedPlans } from './plans.ts'

/** The order for a process that shares the directory, as JSON in its only argument. */
export interface SharerOrder {
  readonly root: string
  readonly owner: Owner
  readonly plans: readonly string[]
  readonly targets: readonly string[]
  readonly seed: number
  /** Milliseconds. */
  readonly duration: number
}

export interface SharerReport {
  commands: number
  refused: number
  exchanges: number
  untyped: string[]
}

const expected = ['EBUSY', 'EIO', 'EUNENFORCEABLE', 'ENOEXECUTOR', 'ETIMEDOUT'] as const

const order = JSON.parse(process.argv[2] ?? '') as SharerOrder
const report: SharerReport = { commands: 0, refused: 0, exchanges: 0, untyped: [] }
await Promise.all(sharedPlans.filter(({ name }) => order.plans.includes(name)).map(runAll))
process.stdout.write(JSON.stringify(report))

/** Runs commands of one plan until the time is over: short commands that need names, and commands that exchange these names. */
async function runAll({ at, rules }: SharedPlan): Promise<void> {
  const { root, owner, targets } = order
  await using workspace = await createWorkspace({
    mounts: [{ at, adapter: () => createLocalAdapter({ root, owner }) }],
    rules,
    executors: [createBubblewrapExecutor()],
  })
  const until = performance.now() + order.duration
  const runSome = async (commandOf: (count: number) => string): Promise<void> => {
    for (let count = 0; performance.now() < until; count += 1) {
      try {
        const { stdout } = await workspace.exec(commandOf(count), { login: false, timeout: 30_000 })
        report.commands += 1
        report.exchanges += stdout.split('\n').filter((line) => line === 'exchanged').length
      } catch (error) {
        if (expected.some((code) => isWorkspaceError(error, code))) report.refused += 1
        else report.untyped.push(String(error))
      }
    }
  }
  await Promise.all([runSome((count) => exchangingCommand(targets, order.seed + count)), runSome(() => 'true')])
}
