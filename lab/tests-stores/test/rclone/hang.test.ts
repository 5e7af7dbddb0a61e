/** @module-tag deep */
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { startFaultProxy } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it } from 'vitest'

import { mountNeeds } from './bucket.ts'

describeWith([...mountNeeds, component('bubblewrap')], 'commands on a mount whose store does not answer', () => {
  it('end by their timeout and their signal while they are prepared; so do sessions, and close', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-rclone-' })
    await using server = await sharedS3Server('ceph')
    await using proxy = await startFaultProxy(server)
    const { endpoint, region, credentials, bucket } = proxy
    const adapter = await createRcloneAdapter({
      endpoint,
      region,
      credentials,
      provider: 'Ceph',
      bucket,
      prefix: 'hang',
      owner: ordinaryOwner(),
      directory: scratch.path,
      timeouts: { operation: 600_000, flush: 2_000, directoryCache: 1, attributeCache: 1 },
    })
    const mounts = [{ at: '/workspace', adapter }]
    const workspace = await createWorkspace({ mounts, executors: [createBubblewrapExecutor()] })
    expect((await workspace.exec('echo x')).stdout).toBe('x\n')

    proxy.setFaults(() => ({ kind: 'hang', when: 'before' }))
    const late = { code: 'ETIMEDOUT', reason: expect.stringContaining('could not be started in time') }
    await expect(workspace.exec('true', { timeout: 100, cwd: 'cold/1' })).rejects.toMatchObject(late)
    await expect(workspace.openSession({ timeout: 100, cwd: 'cold/2' })).rejects.toMatchObject(late)
    const reason = new Error('enough')
    const stop = new AbortController()
    const aborted = workspace.exec('true', { signal: stop.signal, cwd: 'cold/3' }).catch((error: unknown) => error)
    setImmediate(() => stop.abort(reason))
    expect(await aborted).toBe(reason)

    await expect(workspace.close()).rejects.toMatchObject({ code: 'ETIMEDOUT', operation: 'flush' })
    await expect(adapter.close()).rejects.toMatchObject({ code: 'ETIMEDOUT', operation: 'close' })
  }, 60_000)
})
