import { createMemoryAdapter } from '@ws/adapter-memory'
import { createSandboxClient } from '@ws/bridge-openai-agents'
import { createWorkspace, type Workspace } from '@ws/core'
import type { Executor, SharedLoopback } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { expect, it, onTestFinished } from 'vitest'

/** A workspace whose commands share a loopback, as it says. */
async function open(loopback?: SharedLoopback): Promise<Workspace> {
  const virtual = createVirtualExecutor()
  const executor: Executor = {
    ...virtual,
    attach: async (view) => ({ ...(await virtual.attach(view)), ...(loopback && { loopback }) }),
  }
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: createMemoryAdapter() }],
    executors: [executor],
  })
  onTestFinished(() => workspace.close())
  return workspace
}

it('[SV1] a port of a session is published once, and its address is given', async () => {
  const published: number[] = []
  const workspace = await open({
    ports: async () => [3000],
    async publish(port) {
      published.push(port)
      return { port: 40_123, close: async () => undefined }
    },
  })
  const session = await createSandboxClient(workspace).create()
  const endpoint = { host: '127.0.0.1', port: 40_123, tls: false }
  expect([await session.resolveExposedPort(3000), await session.resolveExposedPort(3000)]).toEqual([endpoint, endpoint])
  expect(published).toEqual([3000])
  await expect(session.resolveExposedPort(4000)).rejects.toThrow(/nothing listens on port 4000/u)
})

it('[SV1] a port without a shared loopback is refused in words of the SDK', async () => {
  const session = await createSandboxClient(await open()).create()
  await expect(session.resolveExposedPort(3000)).rejects.toMatchObject({ code: 'unsupported_feature' })
})
