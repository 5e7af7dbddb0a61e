/** @module-tag all */
import { HarnessCapabilityUnsupportedError } from '@ai-sdk/harness'
import type { HarnessV1NetworkSandboxSession, HarnessV1SandboxProvider } from '@ai-sdk/harness'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createSandboxSession } from '@ws/bridge-ai-sdk'
import type { Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createThreads, type Threads } from '@ws/threads'
import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'

const providerId = 'ws-threads'

/** A thread for each session of a harness: the same session finds its files again. Workspaces have no ports. */
function harnessProvider(threads: Threads, userId: string): HarnessV1SandboxProvider {
  async function open(sessionId: string): Promise<HarnessV1NetworkSandboxSession> {
    const thread = await threads.open({ threadId: sessionId, userId })
    return networkSession(sessionId, thread.workspace, {
      stop: () => thread.close(),
      async destroy() {
        await thread.close()
        await threads.delete(sessionId)
      },
    })
  }
  return {
    specificationVersion: 'harness-sandbox-v1',
    providerId,
    async createSession({ sessionId = randomUUID(), abortSignal, onFirstCreate } = {}) {
      abortSignal?.throwIfAborted()
      const session = await open(sessionId)
      await onFirstCreate?.(session.restricted(), { ...(abortSignal && { abortSignal }) })
      return session
    },
    resumeSession: ({ sessionId }) => open(sessionId),
  }
}

function networkSession(
  id: string,
  workspace: Workspace,
  lifecycle: Pick<HarnessV1NetworkSandboxSession, 'stop' | 'destroy'>,
): HarnessV1NetworkSandboxSession {
  const session = createSandboxSession(workspace)
  const noPorts = () =>
    Promise.reject(
      new HarnessCapabilityUnsupportedError({ message: 'a workspace has no ports', harnessId: providerId }),
    )
  return {
    ...session,
    ...lifecycle,
    id,
    defaultWorkingDirectory: workspace.root,
    ports: [],
    getPortEndpoint: noPorts,
    getPortUrl: noPorts,
    restricted: () => session,
  }
}

it('gives a harness of the AI SDK a thread for each session, which finds its files again', async () => {
  const threads = await createThreads({
    store: createMemoryAdapter(),
    executors: [createVirtualExecutor()],
    provision: false,
  })
  onTestFinished(() => threads.close())
  const provider = harnessProvider(threads, 'u1')

  const session = await provider.createSession({
    sessionId: 's1',
    onFirstCreate: (fresh) => Promise.resolve(fresh.writeTextFile({ path: 'setup.txt', content: 'done\n' })),
  })
  expect(await session.run({ command: 'cat setup.txt > notes.md; pwd' })).toMatchObject({
    exitCode: 0,
    stdout: `${session.defaultWorkingDirectory}\n`,
  })
  expect(session.restricted()).not.toHaveProperty('stop')
  await expect(session.getPortEndpoint({ port: 80 })).rejects.toBeInstanceOf(HarnessCapabilityUnsupportedError)
  await session.stop()

  const again = await provider.resumeSession?.({ sessionId: 's1' })
  expect(await again?.readTextFile({ path: 'notes.md' })).toBe('done\n')
  await again?.destroy()
  expect(await Array.fromAsync(threads.list())).toEqual([])
})
