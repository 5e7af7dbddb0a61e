/** Started by a test to be killed: runs commands through the executor, says so, and waits. */
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '../../src/index.ts'
import type { FileDoor, VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { BindPlan, CommandRequest } from '@ws/core/executor'

export interface Order {
  readonly owner: Owner
  readonly root: VirtualPath
  readonly warm: NonNullable<BubblewrapExecutorOptions['warm']>
  readonly plan: BindPlan
  readonly request: CommandRequest
  readonly count: number
  /** It closes nothing and waits for nothing, so nothing may keep it. */
  readonly leaves?: boolean
}

const order = JSON.parse(process.argv[2] ?? '') as Order
const files = undefined as unknown as FileDoor
const executor = await createBubblewrapExecutor({ warm: order.warm }).attach({
  root: order.root,
  owner: order.owner,
  files,
})
// The first command of an executor always starts cold.
if (order.warm !== false) await (await executor.spawn({ ...order.request, command: 'true' }, order.plan)).wait()
process.stdout.write('attached\n')
const started = Array.from({ length: order.count }, () => executor.spawn(order.request, order.plan))
const running = await Promise.all(started)
for (const command of running) {
  for await (const chunk of command.stdout) {
    if (Buffer.from(chunk).includes('ready')) break
  }
}
process.stdout.write('ready\n')
if (order.leaves === true) await Promise.all(running.map((command) => command.wait()))
else setInterval(() => undefined, 1000)
