import { createMemoryAdapter } from '@ws/adapter-memory'
import { createReplicaAdapter } from '@ws/adapter-replica'
import { isWorkspaceError, WorkspaceError, type ErrorCode } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { createProcessLeases, createThreads, type ThreadsOptions } from '@ws/threads'
import type { ThreadEvent } from '../src/types.ts'
import { describe, expect, it, onTestFinished } from 'vitest'

const user = { threadId: 't1', userId: 'u1' }

async function threadsWith(options: Omit<ThreadsOptions, 'store'>) {
  const store = createMemoryAdapter()
  const events: ThreadEvent[] = []
  const leases = createProcessLeases()
  const threads = await createThreads({
    ...{ store, leases, provision: false, idleTimeout: 0 },
    onState: (event) => events.push(event),
    ...options,
  })
  onTestFinished(async () => {
    await threads.close().catch(() => undefined)
    await store.close()
  })
  return { store, threads, events, leases }
}

/** A copy whose flush saves all but one entry. */
const leaving =
  (code: ErrorCode): ThreadsOptions['replica'] =>
  ({ store, threadId }) =>
    threadId === undefined
      ? store
      : Object.assign(Object.create(store) as typeof store, {
          capabilities: { ...store.capabilities, flush: true },
          flush: async () => {
            throw new WorkspaceError({ code, operation: 'flush', path: '/odd', reason: 'cannot be saved' })
          },
        })

describe.each(['ENOTSUP', 'ECONFLICT'] as const)('a thread with an entry that no flush can save (%s)', (code) => {
  const failure = { code, path: 't1', reason: expect.stringContaining('`/odd` cannot be saved') as string }

  it('[TH2] is closed, says so once, and is free for the next', async () => {
    const { threads, events, leases } = await threadsWith({ replica: leaving(code) })
    for (let turn = 1; turn <= 2; turn += 1) {
      const thread = await threads.open(user)
      await expect(thread.close()).rejects.toMatchObject(failure)
      await thread.close()
      expect(thread.status().state).toBe('closed')
      expect(await leases.holder('t1')).toBeUndefined()
    }
    expect(events).toMatchObject(Array(2).fill({ threadId: 't1', state: 'incomplete', error: failure }))
  })

  it('[TH2] lets all threads be closed, and is deleted', async () => {
    const { threads, leases } = await threadsWith({ replica: leaving(code), idleTimeout: 60_000 })
    await (await threads.open(user)).close()
    await threads.delete('t1')
    expect(await Array.fromAsync(threads.list())).toEqual([])
    for (const threadId of ['t1', 't2']) await threads.open({ ...user, threadId })
    await expect(threads.close()).rejects.toMatchObject({ code })
    await threads.close()
    expect(await leases.holder('t2')).toBeUndefined()
  })
})

describeWith([component('bubblewrap')], 'entries that a copy cannot save', { tags: 'all' }, () => {
  it.each([
    ['a name that is not UTF-8', "printf x > $'a\\xff'"],
    ['a file above the limit', 'head -c 2000 /dev/zero > large'],
  ])('[TH2] %s: the thread is closed, opened and deleted', async (_, command) => {
    const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
    onTestFinished(() => scratch.remove())
    const { store, threads } = await threadsWith({
      executors: [createBubblewrapExecutor()],
      replica: ({ store: part, threadId }) =>
        createReplicaAdapter({
          store: part,
          directory: threadId && `${scratch.path}/${threadId}`,
          maxFileBytes: 1_000,
        }),
    })
    const thread = await threads.open(user)
    const ended = thread.workspace.exec(`bash -c "${command.replaceAll('$', '\\$')}; echo kept > kept.txt"`)
    // a replica may report it with the result, or by an error that has it
    await ended.catch((error: unknown) => expect(isWorkspaceError(error, 'ENOTSUP')).toBe(true))
    await expect(thread.close()).rejects.toMatchObject({ code: 'ENOTSUP', path: 't1' })
    expect((await store.read('/threads/t1/kept.txt' as never)).bytes.length).toBe(5)
    const again = await threads.open(user)
    expect((await again.workspace.exec('cat kept.txt')).stdout).toBe('kept\n')
    await expect(again.close()).rejects.toMatchObject({ code: 'ENOTSUP' })
    await threads.delete('t1')
    expect(await Array.fromAsync(threads.list())).toEqual([])
  })
})
