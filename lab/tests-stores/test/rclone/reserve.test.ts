/** @module-tag all */
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, paths, type Rule, rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'
import { mountBucket, mountNeeds } from './bucket.ts'

describeWith([...mountNeeds, component('bubblewrap')], 'protected names that are missing, on a mount of Ceph', () => {
  it('[RU2] run commands under the natural rules, and refuse those alone that would need a reserved name; the bucket shows none', async () => {
    await using mounted = await mountBucket()
    await using adapter = await mounted.bucket.adapter('threads/t1')
    const open = async (...list: Rule[]) =>
      await createWorkspace({
        mounts: [{ at: '/workspace', adapter }],
        rules: list,
        executors: [createBubblewrapExecutor()],
      })
    const deny = rules.deny('/workspace/.env')
    await using natural = await open(
      rules.withinOutput('/workspace/out'),
      deny,
      rules.readOnly('/workspace/.git/hooks'),
    )
    const { exitCode } = await natural.exec('echo x > .env || mkdir -p .git/hooks || (echo done > out/x && false)')
    expect(exitCode).toBe(1)

    await using writable = await open(deny)
    await expect(writable.exec('true')).rejects.toMatchObject({
      code: 'EUNENFORCEABLE',
      rule: 'deny(/workspace/.env)',
      path: '/workspace/.env',
      reason: expect.stringContaining('FUSE'),
      remedy: expect.stringContaining('create it in the store'),
    })
    const { effect, rule } = await writable.explain({ operation: 'exec', path: '.' })
    expect({ effect, rule }).toEqual({ effect: 'deny', rule: 'deny(/workspace/.env)' })

    await natural.flush()
    const { endpoint, region, credentials, bucket } = mounted.server
    // Another client, which sees objects and nothing of the mount.
    await using store = await createS3Adapter({ endpoint, region, credentials, bucket })
    const names: string[] = []
    for await (const { path, type } of store.list(paths.mountRoot, { recursive: true }))
      if (type === 'file') names.push(path)
    expect(names).toEqual(['/threads/t1/out/x'])
  })
})
