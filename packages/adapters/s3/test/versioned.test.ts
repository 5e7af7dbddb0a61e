/** @module-tag all */
import { ListObjectVersionsCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { probeS3Dialect, type S3Dialect } from '../src/index.ts'
import { at, Bench, encode, listed, text } from './support.ts'

const partBytes = 5 * 1024 * 1024

// the simulator of R2 has no versions, and neither has R2
describeWith(s3Needs('ceph'), 'a bucket that keeps versions', () => {
  let bench: Bench
  let bucket: string
  let dialect: S3Dialect
  beforeAll(async () => {
    bench = await Bench.open('ceph')
    bucket = await bench.server.createBucket()
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await bench.client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
    dialect = await probeS3Dialect({ client: bench.server.client({ maxAttempts: 1 }), bucket })
  })
  afterAll(() => bench.close())

  /** How many states the server keeps below a prefix, and how many marks of deletion. */
  const kept = async (prefix: string): Promise<{ versions: number; marks: number }> => {
    const answer = await bench.client.send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix }))
    return { versions: answer.Versions?.length ?? 0, marks: answer.DeleteMarkers?.length ?? 0 }
  }

  it('is asked for itself: conditions that Ceph honours elsewhere and not here are refused, never pretended', async () => {
    expect(bench.dialect.conditionalPut).toBe(true)
    await using adapter = await bench.adapter({ bucket, dialect })
    expect(adapter.capabilities.conditionalWrite).toBe('none')
    await expect(adapter.write(at('/a'), encode('one'), { ifVersion: 'absent' })).rejects.toMatchObject({
      code: 'ENOTSUP',
    })
    expect(await listed(adapter)).toEqual([])
  })

  it('shows the latest state alone, and keeps the others where nothing here reaches them', async () => {
    const prefix = bench.prefix()
    await using adapter = await bench.adapter({ bucket, prefix, dialect })
    await adapter.write(at('/a'), encode('one'))
    await adapter.write(at('/a'), encode('two'))
    expect(await text(adapter, '/a')).toBe('two')
    expect(await listed(adapter)).toEqual(['file /a'])
    expect(await kept(prefix)).toEqual({ versions: 2, marks: 0 })

    await adapter.delete(at('/a'))
    for (const operation of ['stat', 'read', 'delete'] as const) {
      await expect(adapter[operation](at('/a')), operation).rejects.toMatchObject({ code: 'ENOENT' })
    }
    expect(await listed(adapter)).toEqual([])
    expect(await kept(prefix)).toEqual({ versions: 2, marks: 1 })

    await adapter.write(at('/a'), encode('again'))
    expect(await text(adapter, '/a')).toBe('again')
  })

  it('takes trees: made, moved, copied and deleted', async () => {
    const prefix = bench.prefix()
    await using adapter = await bench.adapter({ bucket, prefix, dialect, partBytes })
    for (const path of ['/d/a', '/d/e/b', '/d/e/c']) await adapter.write(at(path), encode(path), { parents: true })
    async function* large(): AsyncGenerator<Uint8Array> {
      for (let part = 0; part < 3; part += 1) yield new Uint8Array(partBytes - 1).fill(part)
    }
    await adapter.write(at('/d/large'), large())
    await adapter.copy(at('/d'), at('/copy'), { recursive: true })
    await adapter.move(at('/d'), at('/moved'))
    await adapter.delete(at('/copy/e'), { recursive: true })
    expect(await listed(adapter)).toEqual([
      'directory /copy',
      'directory /moved',
      'directory /moved/e',
      'file /copy/a',
      'file /copy/large',
      'file /moved/a',
      'file /moved/e/b',
      'file /moved/e/c',
      'file /moved/large',
    ])
    expect((await adapter.stat(at('/copy/large'))).size).toBe(3 * (partBytes - 1))
    await adapter.delete(at('/copy'), { recursive: true })
    await adapter.delete(at('/moved'), { recursive: true })
    expect(await listed(adapter)).toEqual([])
    expect((await kept(prefix)).versions).toBeGreaterThanOrEqual(12)
  })
})
