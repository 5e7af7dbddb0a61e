import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

import { createS3Adapter } from '@ws/adapter-s3'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import { describeWith } from '@ws/test-fixtures'
import { watchRequests } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { createReplicaAdapter } from '../src/index.ts'
import { at, type Machine, machineOf, storeWithoutConditionalDelete } from './support/site.ts'

/** Seconds since the epoch. */
const time = 981_173_106
const names = Array.from({ length: 120 }, (_, number) => `f${number}.txt`)

/** A bucket whose one writer has made many small files, and what was read from it since. */
async function packedBucket(atEnd: (work: () => Promise<void>) => void = onTestFinished) {
  const server = await sharedS3Server('r2')
  atEnd(() => server.close())
  const client = server.client({ maxAttempts: 1 })
  const prefix = randomUUID()
  const sent = watchRequests(client)
  const storeAt = (name: string): Promise<StorageAdapter> =>
    createS3Adapter({ client, bucket: server.bucket, prefix: `${prefix}/${name}`, symlinks: 'rclonelink' })
  const [store, beside] = [await storeAt('tree'), await storeAt('packs')]
  Object.assign(store, { isSole: true, beside })
  const replica = await createReplicaAdapter({ store })
  atEnd(() => replica.close().catch(() => undefined))
  const first = { replica, root: replica.hostPath?.(at('/')) ?? '' }
  const { root } = first
  for (const name of names) writeFileSync(join(root, name), `text of ${name}`)
  chmodSync(join(root, 'f1.txt'), 0o755)
  utimesSync(join(root, 'f2.txt'), time, time)
  await replica.flush()
  const packs = (): Promise<MountPath[]> => packsIn(beside)
  const { bytes } = await beside.read((await packs())[0] ?? at('/'))
  return { store, beside, first, sent, packs, packed: bytes }
}

type Bucket = Awaited<ReturnType<typeof packedBucket>>

async function packsIn(beside: StorageAdapter): Promise<MountPath[]> {
  return (await Array.fromAsync(beside.list(at('/'), { recursive: true }))).map(({ path }) => path)
}

/** Puts a pack in the place of all others. It is made of the lines and the bytes of a true one. */
async function forge({ beside, packed }: Bucket, change: Change): Promise<void> {
  for (const path of await packsIn(beside)) await beside.delete(path)
  await beside.write(at(`/${randomUUID()}`), change(packed, ...contentsOf(packed)), { parents: true })
}

function contentsOf(packed: Uint8Array): [lines: Line[], rest: Buffer] {
  const raw = gunzipSync(packed)
  const end = 4 + raw.readUInt32LE(0)
  return [JSON.parse(raw.toString('utf8', 4, end)) as Line[], raw.subarray(end)]
}

type Change = (packed: Uint8Array, lines: Line[], rest: Buffer) => Uint8Array
type Line = [path: string, size: number, mode: number | null, mtime: number | null]

function packOf(lines: unknown, rest: Uint8Array): Uint8Array {
  const head = Buffer.from(JSON.stringify(lines))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  return gzipSync(Buffer.concat([length, head, rest]))
}

type Facts = Record<string, readonly [text: string, mode: number, modifiedAt: number | undefined]>

/** Each file of a store, as a read of its object gives it. */
async function factsIn(store: StorageAdapter): Promise<Facts> {
  const paths = (await Array.fromAsync(store.list(at('/')))).map(({ path }) => path)
  const read = async (path: MountPath) => {
    const { bytes, stat } = await store.read(path)
    return [path, [Buffer.from(bytes).toString(), stat.mode ?? 0o644, stat.modifiedAt]] as const
  }
  return Object.fromEntries(await Promise.all(paths.map(read)))
}

function factsOnDisk({ root }: Machine): Facts {
  const read = (name: string) => {
    const { mode, mtimeMs } = statSync(join(root, name))
    return [`/${name}`, [readFileSync(join(root, name), 'utf8'), mode & 0o777, mtimeMs]] as const
  }
  return Object.fromEntries(readdirSync(root).map(read))
}

describeWith(s3Needs('r2'), 'packs of small files, beside a store with one writer', { tags: 'all' }, () => {
  it('[RE2] [RE6] give the next machine each file with its bits and time, in few requests', async () => {
    const { store, sent, packs } = await packedBucket()
    expect(await packs()).toHaveLength(1)
    sent.length = 0
    const next = await machineOf(store)
    expect(sent.length).toBeLessThan(10)
    expect(factsOnDisk(next)).toEqual(await factsIn(store))
    expect(statSync(join(next.root, 'f1.txt')).mode & 0o777).toBe(0o755)
    expect(statSync(join(next.root, 'f2.txt')).mtimeMs).toBe(time * 1_000)
  })

  it('[RE3] [RE6] say nothing of files that changed, went, or got other bits since', async () => {
    const { store, first, packs } = await packedBucket()
    writeFileSync(join(first.root, 'f3.txt'), 'other')
    chmodSync(join(first.root, 'f4.txt'), 0o755)
    rmSync(join(first.root, 'f5.txt'))
    await first.replica.flush()
    await first.replica.close()
    const next = await machineOf(store)
    expect(factsOnDisk(next)).toEqual(await factsIn(store))
    expect(statSync(join(next.root, 'f4.txt')).mode & 0o777).toBe(0o755)
    expect(existsSync(join(next.root, 'f5.txt'))).toBe(false)
    expect(await packs()).toHaveLength(1)
  })

  it('[RE3] are removed when most of their files have changed, and written anew', async () => {
    const { store, first, packs } = await packedBucket()
    const [old] = await packs()
    for (const name of names.slice(0, 80)) writeFileSync(join(first.root, name), `new text of ${name}`)
    await first.replica.flush()
    await first.replica.close()
    expect(await packs()).toEqual([old])
    const next = await machineOf(store)
    expect(await packs()).toEqual([])
    await next.replica.flush()
    await next.replica.close()
    const written = await packs()
    expect([written.length, written[0] === old]).toEqual([1, false])
    expect(factsOnDisk(await machineOf(store))).toEqual(await factsIn(store))
  })

  it('[RE2] many small packs are all read, and become one', { tags: 'deep' }, async () => {
    const bucket = await packedBucket()
    await bucket.first.replica.close()
    const { store, beside, sent, packs, packed } = bucket
    const [lines, rest] = contentsOf(packed)
    const parts = 40
    for (const path of await packs()) await beside.delete(path)
    for (let part = 0, begin = 0; part < parts; part += 1) {
      const some = lines.slice(part * 3, part * 3 + 3)
      const end = some.reduce((sum, [, size]) => sum + size, begin)
      await beside.write(at(`/${randomUUID()}`), packOf(some, rest.subarray(begin, end)), { parents: true })
      begin = end
    }
    expect(await packs()).toHaveLength(parts)
    sent.length = 0
    const next = await machineOf(store)
    expect(sent.length).toBeLessThan(parts + 10)
    rmSync(join(next.root, 'f5.txt'))
    writeFileSync(join(next.root, 'f3.txt'), 'other')
    chmodSync(join(next.root, 'f4.txt'), 0o755)
    const { write } = beside
    for (const turn of ['first', 'second']) {
      beside.write = turn === 'first' ? () => Promise.reject(new Error('no place')) : write
      for (const name of names) writeFileSync(join(next.root, `${turn}-${name}`), `${turn} text of ${name}`)
      await next.replica.flush()
    }
    await next.replica.close()
    expect(await packs()).toHaveLength(1)
    const last = await machineOf(store)
    expect(factsOnDisk(last)).toEqual(await factsIn(store))
    expect(statSync(join(last.root, 'f4.txt')).mode & 0o777).toBe(0o755)
  })

  it('[RE2] a push without a place for them has saved everything', async () => {
    const { store, beside, first } = await packedBucket()
    beside.write = () => Promise.reject(new Error('no place'))
    for (const name of names) writeFileSync(join(first.root, name), `new text of ${name}`)
    await first.replica.flush()
    expect(first.replica.status()).toMatchObject({ dirty: [], leftOut: [] })
    beside.list = () => {
      throw new Error('no place')
    }
    expect(factsOnDisk(await machineOf(store))).toEqual(await factsIn(store))
  })

  it('are neither written nor read where other machines write', async () => {
    const { store, beside, first } = await packedBucket()
    await first.replica.close()
    Object.assign(store, { isSole: false })
    const other = await machineOf(store)
    for (const path of await packsIn(beside)) await beside.delete(path)
    for (const name of names) writeFileSync(join(other.root, name), `new text of ${name}`)
    await other.replica.flush()
    expect(await packsIn(beside)).toEqual([])
  })
})

describeWith(s3Needs('r2'), 'packs that another program has made', () => {
  let bucket: Bucket
  let facts: Facts
  const ends: (() => Promise<void>)[] = []
  beforeAll(async () => {
    bucket = await packedBucket((work) => ends.unshift(work))
    facts = await factsIn(bucket.store)
  })
  afterAll(async () => {
    for (const end of ends) await end()
  })

  async function expectNothing(change: Change): Promise<void> {
    await forge(bucket, change)
    const next = await machineOf(bucket.store)
    expect(factsOnDisk(next)).toEqual(facts)
    expect(next.replica.status().leftOut).toEqual([])
  }

  const bytes = (text: string): Uint8Array => Buffer.from(text)
  it.each<[string, Change]>([
    ['what it had', (packed) => packed],
    [
      'other sizes',
      (_, lines, rest) =>
        packOf(
          lines.map(([path, size, ...marks]) => [path, size + 1, ...marks]),
          rest,
        ),
    ],
    [
      'sizes below 0',
      (_, lines, rest) =>
        packOf(
          lines.map(([path, size, ...marks]) => [path, -size, ...marks]),
          rest,
        ),
    ],
    [
      'bits that run as another',
      (_, lines, rest) =>
        packOf(
          lines.map((line) => [...line.slice(0, 2), 0o4755, 0]),
          rest,
        ),
    ],
    [
      'no time',
      (_, lines, rest) =>
        packOf(
          lines.map((line) => [...line.slice(0, 3), 1e300]),
          rest,
        ),
    ],
    ['half of its bytes', (packed) => packed.subarray(0, packed.length / 2)],
    ['lines that are cut off', (_, lines, rest) => packOf(lines, rest.subarray(0, 100))],
    ['nothing', () => new Uint8Array()],
    ['no gzip', () => bytes('no gzip')],
    ['no lines', () => gzipSync(bytes('\u00ff\u00ff\u00ff\u007fno lines'))],
    ['lines that are none', (_, _lines, rest) => packOf({ length: 1e9 }, rest)],
    ['a line that is none', (_, lines, rest) => packOf([...lines, null], rest)],
    ['very many bytes, compressed', () => gzipSync(Buffer.alloc(64 * 1024 * 1024))],
    ['very many bytes', () => new Uint8Array(9 * 1024 * 1024)],
  ])('[HO1] [RE3] a pack with %s changes nothing', { tags: 'all' }, (_what, change) => expectNothing(change))

  it('[HO1] [RE3] a pack with other bytes changes nothing', async () => {
    await expectNothing((_, lines, rest) => packOf(lines, Buffer.alloc(rest.length, 'x')))
  })

  it('[HO1] a pack with paths that lead out makes nothing there', async () => {
    const outside = `../${randomUUID()}`
    await forge(bucket, (_, lines, rest) => {
      const paths = [outside, `/${outside}`, '/../../etc/x', '/f1.txt/../x', '/.ws-tmp-x', '/new.txt', '']
      const more = paths.map((path): Line => [path, 3, 0o644, null])
      return packOf([...lines, ...more], Buffer.concat([rest, Buffer.from('out'.repeat(paths.length))]))
    })
    const next = await machineOf(bucket.store)
    expect(factsOnDisk(next)).toEqual(facts)
    expect(readdirSync(next.root).sort()).toEqual(names.toSorted())
    expect(existsSync(join(next.root, outside))).toBe(false)
  })
})

it('packs need versions that are hashes: a store without them has none', async () => {
  const [store, beside] = [storeWithoutConditionalDelete(), storeWithoutConditionalDelete()]
  const { replica, root } = await machineOf(Object.assign(store, { isSole: true, beside }))
  for (const name of names) writeFileSync(join(root, name), name)
  await replica.flush()
  expect(await packsIn(beside)).toEqual([])
})
