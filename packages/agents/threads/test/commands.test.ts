import { createMemoryAdapter } from '@ws/adapter-memory'
import { createReplicaAdapter } from '@ws/adapter-replica'
import { getCommandResult, type Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { createObjectLeases, createThreads, type ThreadsOptions } from '@ws/threads'
import { expect, it, onTestFinished } from 'vitest'

const user = { threadId: 't1', userId: 'u1' }

interface Kind {
  readonly name: string
  readonly executor: () => Executor
  readonly replica?: ThreadsOptions['replica']
}

const kinds: readonly Kind[] = [
  { name: 'an interpreter', executor: createVirtualExecutor },
  {
    name: 'programs in a copy',
    executor: createBubblewrapExecutor,
    replica: ({ store }) => createReplicaAdapter({ store }),
  },
]

for (const { name, executor, replica } of kinds) {
  const needs = replica === undefined ? [] : [component('bubblewrap')]
  describeWith(needs, `commands of ${name}`, { tags: replica === undefined ? [] : ['all'] }, () => {
    /** A thread, and another machine that takes it over. */
    async function taken() {
      const store = createMemoryAdapter()
      const clockOf = () => {
        const clock = { at: 1000, now: () => ({ monotonic: clock.at, uptime: clock.at }), time: () => clock.at }
        return clock
      }
      const [clock, otherClock] = [clockOf(), clockOf()]
      const leasesBy = (by: typeof clock) => createObjectLeases({ adapter: store, directory: '.ws/threads', clock: by })
      const threads = await createThreads({
        ...{ store, replica, provision: false, leases: leasesBy(clock) },
        executors: [executor()],
      })
      onTestFinished(async () => {
        await threads.close()
        await store.close()
      })
      const thread = await threads.open(user)
      const takeOver = async (): Promise<void> => {
        const others = leasesBy(otherClock)
        await expect(others.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
        otherClock.at += 30_000
        await others.acquire('t1')
      }
      return { thread, takeOver, notice: () => void (clock.at += 25_000) }
    }

    const lost = {
      code: 'ECLOSED',
      operation: 'exec',
      reason: expect.stringContaining('right to change') as string,
    }

    it('[TH2] reject with their result when the lease was lost while they ended by themselves', async () => {
      const { thread, takeOver, notice } = await taken()
      await takeOver()
      const error: unknown = await thread.workspace.exec('echo end', { onOutput: notice }).catch((one: unknown) => one)
      expect(error).toMatchObject(lost)
      expect(getCommandResult(error)).toMatchObject({ stdout: 'end\n' })
    })

    it('[TH2] are ended by the loss of the lease, and say so', async () => {
      const { thread, takeOver, notice } = await taken()
      const { workspace } = thread
      const running = workspace.exec('touch begun; sleep 600').catch((one: unknown) => one)
      await expect.poll(() => workspace.exists('/begun')).toBe(true)
      await takeOver()
      notice()
      const error = await running
      expect(error).toMatchObject(lost)
      expect(getCommandResult(error)).toMatchObject({ exitCode: null, exitStatus: 137 })
      await expect(workspace.exec('true')).rejects.toMatchObject({ code: 'ECLOSED' })
    })

    it('[TH2] end as ever where the lease ran out, and nobody else has taken it', async () => {
      const { thread, notice } = await taken()
      notice()
      expect(await thread.workspace.exec('echo x > a.txt; cat a.txt')).toMatchObject({ exitCode: 0, stdout: 'x\n' })
      expect(thread.status().state).toBe('open')
    })
  })
}
