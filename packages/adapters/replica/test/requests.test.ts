/** @module-tag all */
import { randomUUID } from 'node:crypto'
import { rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { PutObjectCommand } from '@aws-sdk/client-s3'
import { createS3Adapter } from '@ws/adapter-s3'
import { describeWith } from '@ws/test-fixtures'
import { watchRequests } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

import { at, machineOf, openMachine, put } from './support/site.ts'

/** Seconds since the epoch. */
const time = 981_173_106

/** A store on a bucket, and a count of the requests of each step. */
async function countedStore() {
  const server = await sharedS3Server('r2')
  onTestFinished(() => server.close())
  const client = server.client({ maxAttempts: 1 })
  const sent = watchRequests(client)
  const prefix = randomUUID()
  const store = await createS3Adapter({ client, bucket: server.bucket, prefix, symlinks: 'rclonelink' })
  const counts: Record<string, number> = {}
  const count = async <Result>(step: string, work: () => Promise<Result>): Promise<Result> => {
    sent.length = 0
    const result = await work()
    counts[step] = sent.length
    return result
  }
  const putKey = (key: string) =>
    client.send(new PutObjectCommand({ Bucket: server.bucket, Key: `${prefix}/${key}`, Body: 'other' }))
  return { store, counts, count, putKey }
}

// one server
describeWith(s3Needs('r2'), 'the requests of a replica on a bucket', () => {
  it('[RE2] are as few as the README says', async () => {
    const { store, counts, count } = await countedStore()
    for (let file = 0; file < 20; file += 1) await put(store, `/kept/f${file}.txt`, 'kept')
    const opened = await count('open', async () => {
      const machine = await openMachine(store)
      await machine.replica.refresh?.()
      return machine
    })
    await opened.replica.close()
    const { replica, root } = await machineOf(store, { persist: 'flush' })
    const flush = async (): Promise<void> => replica.flush()
    await count('read', () => replica.read(at('/kept/f1.txt')))
    await count('refresh, nothing changed', async () => replica.refresh?.())
    await count('flush, nothing changed', flush)
    await put(replica, '/new.txt', 'new')
    await count('a new file', flush)
    await put(replica, '/new.txt', 'changed')
    await utimes(join(root, 'new.txt'), time, time)
    await count('a file that changed', flush)
    // [RE6] with its time, which another machine gets with the bytes
    expect((await stat(join((await machineOf(store)).root, 'new.txt'))).mtimeMs).toBe(time * 1_000)
    await rename(join(root, 'new.txt'), join(root, 'renamed.txt'))
    await count('a file that was renamed', flush)
    await replica.chmod?.(at('/renamed.txt'), 0o755)
    await count('bits that changed', flush)
    await replica.delete(at('/renamed.txt'))
    await count('a file that was removed', flush)
    await replica.createSymlink?.(at('/link'), 'kept')
    await count('a new link', flush)
    await replica.createDirectory(at('/empty'))
    await count('a new directory', flush)
    for (let file = 0; file < 100; file += 1) await writeFile(join(root, 'kept', `n${file}.txt`), `${file}`)
    await count('100 new files', flush)
    expect(counts).toEqual({
      open: 22,
      read: 0,
      'refresh, nothing changed': 1,
      'flush, nothing changed': 0,
      'a new file': 4,
      'a file that changed': 1,
      'bits that changed': 1,
      'a file that was renamed': 9,
      'a file that was removed': 5,
      'a new link': 4,
      'a new directory': 4,
      '100 new files': 101,
    })
  })

  it('[RE2] ask nothing before a new entry where no other program writes, and much where a name has two', async () => {
    const { store, counts, count, putKey } = await countedStore()
    for (const key of ['two', 'two/a.txt']) await putKey(key)
    const { replica, root } = await machineOf(Object.assign(store, { isSole: true }), { persist: 'flush' })
    const flush = async (): Promise<void> => replica.flush()
    await put(replica, '/deep/er/new.txt', 'new')
    await count('a new file', flush)
    await replica.createSymlink?.(at('/link'), 'kept')
    await count('a new link', flush)
    await replica.createDirectory(at('/empty'))
    await count('a new directory', flush)
    for (let file = 0; file < 100; file += 1) await writeFile(join(root, 'deep', `n${file}.txt`), `${file}`)
    await count('100 new files', flush)
    await put(replica, '/two/new.txt', 'new')
    await count('a file where a name has two entries', flush)
    expect(counts).toEqual({
      'a new file': 1,
      'a new link': 1,
      'a new directory': 1,
      '100 new files': 100,
      'a file where a name has two entries': 5,
    })
  })
})
