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

it('[SV1] a port that several calls ask for at once is published once', async () => {
  const publishing = Promise.withResolvers<void>()
  const published: number[] = []
  const workspace = await open({
    ports: async () => [3000],
    async publish(port) {
      published.push(port)
      await publishing.promise
      return { port: 40_123, close: async () => undefined }
    },
  })
  const client = createSandboxClient(workspace)
  const sessions = [await client.create(), await client.create()]
  const asked = [...sessions, ...sessions].map((session) => session.resolveExposedPort(3000))
  publishing.resolve()
  expect(new Set((await Promise.all(asked)).map(({ port }) => port))).toEqual(new Set([40_123]))
  expect(published).toEqual([3000])
})

it('[SV1] `exposedPorts` names the only ports of a session, also after it is resumed', async () => {
  const workspace = await open({
    ports: async () => [3000, 4000],
    publish: async () => ({ port: 40_123, close: async () => undefined }),
  })
  const client = createSandboxClient(workspace)
  const session = await client.create({ options: { exposedPorts: [3000] } })
  const state = await client.deserializeSessionState(await client.serializeSessionState(session.state))
  for (const one of [session, await client.resume(state)]) {
    expect((await one.resolveExposedPort(3000)).port).toBe(40_123)
    await expect(one.resolveExposedPort(4000)).rejects.toThrow(/port 4000 is not one of .*\(3000\); add it there/u)
  }
  const all = await client.create({ options: { exposedPorts: [] } })
  expect((await all.resolveExposedPort(4000)).port).toBe(40_123)
  for (const exposedPorts of [[0], [65_536], ['3000'], 3000]) {
    const options = { exposedPorts } as unknown as { readonly exposedPorts: readonly number[] }
    await expect(client.create({ options })).rejects.toThrow(/must be a list of whole numbers/u)
  }
})

it('[SV1] a closed session gives no port', async () => {
  const session = await createSandboxClient(await open()).create()
  await session.close()
  await expect(session.resolveExposedPort(3000)).rejects.toMatchObject({ name: 'SandboxLifecycleError' })
})

it('[SV1] a port without a shared loopback is refused in words of the SDK', async () => {
  const session = await createSandboxClient(await open()).create()
  await expect(session.resolveExposedPort(3000)).rejects.toMatchObject({ code: 'unsupported_feature' })
})
