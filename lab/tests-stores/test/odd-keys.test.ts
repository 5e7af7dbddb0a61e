/** @module-tag all */
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, it, onTestFinished } from 'vitest'

const odd = ['d/../up', 'd/./same', 'd/..', '/lead', 'd//empty', `${'n'.repeat(300)}`, `d/${'n'.repeat(300)}/below`]

describeWith(s3Needs('ceph'), 'a bucket with keys that no path can name', () => {
  it('[EX1] is listed, walked, searched and packed to its end by commands and by the API', async () => {
    const server = await sharedS3Server('ceph')
    onTestFinished(() => server.close())
    const bucket = await server.createBucket()
    for (const key of ['a.txt', 'd/b.txt', 'd/s/c.txt', ...odd])
      await server.client().send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: 'needle\n' }))
    const { endpoint, region, credentials } = server
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createS3Adapter({ endpoint, region, credentials, bucket }) }],
      executors: [createVirtualExecutor()],
    })
    const run = async (command: string) => {
      const { exitCode, stdout, stderr } = await workspace.exec(command, { timeout: 20_000 })
      expect(stderr, command).toMatch(/^bash: left out, since no path can name them: .*\n$/)
      return [exitCode, stdout]
    }
    expect(await run('ls')).toEqual([0, 'a.txt\nd\n'])
    expect(await run('find . -type f')).toEqual([0, './a.txt\n./d/b.txt\n./d/s/c.txt\n'])
    expect(await run('grep -rl needle .')).toEqual([0, './a.txt\n./d/b.txt\n./d/s/c.txt\n'])
    expect(await run('tar cf /tmp.tar d; tar tf /tmp.tar')).toEqual([0, 'd/\nd/b.txt\nd/s/\nd/s/c.txt\n'])
    await workspace.delete('/tmp.tar')
    const reached = ['/a.txt', '/d', '/d/b.txt', '/d/s', '/d/s/c.txt']
    const listed = await Array.fromAsync(workspace.list('/', { recursive: true }))
    expect(listed.flatMap(({ path, unreachable }) => (unreachable ? [] : [path])).sort()).toEqual(reached)
    expect(listed.filter(({ unreachable }) => unreachable).length).toBeGreaterThan(4)
    const found = await Array.fromAsync(workspace.glob('**', { in: '/' }), ({ path }) => path)
    expect(found.sort()).toEqual(reached)
    const hits = await Array.fromAsync(workspace.search('needle'), ({ path }) => path)
    expect(hits.sort()).toEqual(['/a.txt', '/d/b.txt', '/d/s/c.txt'])
  }, 60_000)
})
