import { DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { isWorkspaceError } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames, startFaultProxy, type Fault, type FaultProxy } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createS3Adapter, type S3AdapterOptions, type S3StorageAdapter } from '../src/index.ts'
import { makeReservedName } from '../src/keys/names.ts'
import { at, Bench, encode, failureOf, listed, tagsOn } from './support.ts'

const answer = (status: number, name: string): Error =>
  Object.assign(new Error(name), { name, Code: name, $metadata: { httpStatusCode: status } })

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `a server that stumbles while it is asked, on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    let proxy: FaultProxy
    beforeAll(async () => {
      bench = await Bench.open(name)
      proxy = await startFaultProxy(bench.server)
    })
    afterEach(() => proxy.setFaults(undefined))
    afterAll(async () => {
      await proxy?.close()
      await bench?.close()
    })

    /** Credentials from a function: this process keeps no answers for the next. */
    const open = (options: Partial<S3AdapterOptions> = {}) => {
      const { endpoint, region, credentials, bucket } = proxy
      const given = { endpoint, region, credentials: async () => credentials, bucket, prefix: bench.prefix() }
      return createS3Adapter({ ...given, ...options } as S3AdapterOptions)
    }
    const factsOf = ({ capabilities }: S3StorageAdapter): unknown => {
      const { conditionalWrite, conditionalDelete, conditionalMove, controlCharacters, caseSensitive } = capabilities
      return { conditionalWrite, conditionalDelete, conditionalMove, controlCharacters, caseSensitive }
    }
    const kinds: Fault[] = [
      { kind: 'reset', when: 'before' },
      { kind: 'reset', when: 'after' },
      { kind: 'status', status: 503 },
      { kind: 'refuse', status: 403, code: 'RequestTimeTooSkewed' },
    ]

    it('is known as well as any other after one fault, whichever request it meets', {
      timeout: 60_000,
    }, async () => {
      await using whole = await open()
      const facts = factsOf(whole)
      expect(facts).toMatchObject({ conditionalWrite: 'server', controlCharacters: name === 'ceph' })
      const { requests } = await proxy.record(async () => (await open()).close())
      await Promise.all(
        requests.flatMap(async (_, index) => {
          const fault = kinds[index % kinds.length]
          await using own = await startFaultProxy(bench.server)
          let count = 0
          own.setFaults(() => (count++ === index ? fault : undefined))
          await using adapter = await open({ endpoint: own.endpoint })
          expect(factsOf(adapter), `${index}: ${JSON.stringify(fault)}`).toEqual(facts)
        }),
      )
    })

    it.each(kinds)('refuses to start where conditions get no answer but %j, and asks anew', async (fault) => {
      const bucket = await bench.server.createBucket()
      const fixed = { credentials: proxy.credentials, bucket }
      proxy.setFaults(({ headers }) => (headers['if-none-match'] === undefined ? undefined : fault))
      const failed = await failureOf(open({ ...fixed, deadline: 400 }))
      expect(failed.code).toMatch(fault.kind === 'refuse' ? /^EBACKEND$/u : /^E(?:IO|TIMEDOUT)$/u)
      if (fault.kind !== 'refuse') expect(failed.remedy).toContain('`dialect`')
      proxy.setFaults(undefined)
      await using adapter = await open(fixed)
      expect(adapter.capabilities.conditionalWrite).toBe('server')
      expect(await listed(adapter)).toEqual([])
    })
  })
}

describe('answers of a server that say nothing', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await Bench.open('r2')
  })
  beforeEach(() => {
    bench.interceptor = (_, send) => send()
  })
  afterEach(() => vi.useRealTimers())
  afterAll(() => bench.close())

  it.each([
    ['a delete that these credentials may not make', 'DeleteObject', answer(403, 'AccessDenied'), {}],
    ['a name at which it hangs up', 'PutObject', Object.assign(new Error('x'), { code: 'ECONNRESET' }), {}],
  ])('serve one adapter and no other: %s', async (_, name, error) => {
    const bucket = await bench.server.createBucket()
    const asked: string[] = []
    bench.interceptor = (request, send) => {
      asked.push(request.name)
      const isOdd = request.key?.includes('\t') === true
      return request.name === name && (name === 'DeleteObject' || isOdd) ? Promise.reject(error) : send()
    }
    for (let start = 0; start < 2; start += 1) {
      asked.length = 0
      await using adapter = await bench.adapter({ bucket, dialect: undefined })
      expect(adapter.capabilities).toMatchObject({ conditionalWrite: 'server', conditionalDelete: 'process' })
      expect(asked).toContain('CopyObject')
    }
  })

  it('are hidden wherever they are left, and swept after an hour', async () => {
    const prefix = bench.prefix()
    const left = ['', 'inner/', 'only/'].flatMap((place) => [
      `${prefix}/${place}${makeReservedName('probe')}e\u0301`,
      `${prefix}/${place}${makeReservedName('probe')}-parts`,
      `${prefix}/${place}${makeReservedName('scratch')}/x`,
    ])
    for (const key of [...left, `${prefix}/inner/a`, `${prefix}/only/`]) await bench.put(key)
    const adapter = await bench.adapter({ prefix })
    expect(await listed(adapter)).toEqual(['directory /inner', 'directory /only', 'file /inner/a'])
    expect(await listed(adapter, '/inner', false)).toEqual(['file /inner/a'])
    expect(await Array.fromAsync(adapter.search?.({ pattern: 'x', in: at('/') }) ?? [])).toHaveLength(1)
    await expect(adapter.read(at(`/inner/${makeReservedName('probe')}-parts`))).rejects.toMatchObject({
      code: 'EINVAL',
    })
    // the trees of others: their own objects are not in the way, and are not carried along
    await adapter.delete(at('/only'))
    await expect(adapter.stat(at('/only'))).rejects.toMatchObject({ code: 'ENOENT' })
    await adapter.move(at('/inner'), at('/moved'))
    expect(await listed(adapter)).toEqual(['directory /moved', 'file /moved/a'])
    expect(await bench.keys(`${prefix}/moved/`)).toEqual([`${prefix}/moved/a`])
    const probesOf = async (place: string) => (await bench.keys(`${prefix}/${place}.ws-probe-`)).length
    const restart = async () => {
      await using proxy = await startFaultProxy(bench.server) // it sends its time
      const { bucket } = bench.server
      await using again = await createS3Adapter({ client: proxy.client({ maxAttempts: 1 }), bucket, prefix })
      return again.name
    }
    await restart()
    expect(await probesOf('')).toBe(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7_200_000 })
    await restart()
    vi.useRealTimers()
    expect([await probesOf(''), await probesOf('inner/')]).toEqual([0, 2])
    const Objects = left.map((Key) => ({ Key }))
    await bench.client.send(new DeleteObjectsCommand({ Bucket: bench.server.bucket, Delete: { Objects } }))
  })

  it.each([
    ['there is more, and no token', { IsTruncated: true, NextContinuationToken: undefined }],
    ['there is more, and one token again and again', { IsTruncated: true, NextContinuationToken: 'again' }],
  ])('end no listing as if it were whole: %s', async (_, page) => {
    const adapter = await bench.adapter()
    for (const path of ['/d/a', '/d/b', '/d/c']) await adapter.write(at(path), encode('x'), { parents: true })
    bench.interceptor = async (request, send) => {
      const sent = (await send()) as { output: object }
      const isListing = request.name === 'ListObjectsV2' && request.input['MaxKeys'] !== 1
      return isListing ? { ...sent, output: { ...sent.output, ...page } } : sent
    }
    const broken = { code: 'EIO', reason: expect.stringContaining('listed to its end') }
    await expect(listed(adapter)).rejects.toMatchObject(broken)
    await expect(adapter.copy(at('/d'), at('/e'), { recursive: true })).rejects.toMatchObject(broken)
    await expect(adapter.delete(at('/d'), { recursive: true })).rejects.toMatchObject({
      ...broken,
      partial: expect.anything(),
    })
  })

  it('about half of the objects are no reason to hide the others', async () => {
    const prefix = bench.prefix()
    const writer = await bench.adapter({ prefix })
    const adapter = await bench.adapter({ prefix })
    for (const path of ['/a', '/denied', '/e', '/large-denied']) {
      await writer.write(at(path), encode(`x\n${'y'.repeat(path.startsWith('/large') ? 300_000 : 1)}`))
    }
    bench.interceptor = ({ name, key }, send) =>
      /^(?:Get|Head)Object$/u.test(name) && key?.endsWith('denied') === true
        ? Promise.reject(answer(403, 'AccessDenied'))
        : send()
    const entries = await Array.fromAsync(adapter.list(at('/'), { recursive: true, details: true }))
    const times = entries.map(({ path, modifiedAt }) => [path, typeof modifiedAt])
    expect(times).toEqual([
      ['/a', 'number'],
      ['/denied', 'undefined'],
      ['/e', 'number'],
      ['/large-denied', 'undefined'],
    ])
    const unreadable: string[] = []
    const onUnreadable = (path: string, { code }: { readonly code: string }): void =>
      void unreadable.push(`${path} ${code}`)
    const hits = await Array.fromAsync(adapter.search?.({ pattern: 'x', in: at('/') }, { onUnreadable }) ?? [])
    expect(hits.map(({ path }) => path)).toEqual(['/a', '/e'])
    expect(unreadable).toEqual(['/denied EBACKEND', '/large-denied EBACKEND'])
    await expect(adapter.read(at('/denied'))).rejects.toMatchObject({ code: 'EBACKEND', path: '/denied' })
    await expect(adapter.write(at('/denied'), encode('new'))).rejects.toMatchObject({ code: 'EBACKEND' })
    bench.interceptor = (_, send) => send()
    expect(new TextDecoder().decode((await adapter.read(at('/denied'))).bytes)).toBe('x\ny')
  })

  it('are not looked for at the end of temporary space that nobody has used', async () => {
    const adapter = await bench.adapter()
    const [unused, used] = [await adapter.createScratch?.(), await adapter.createScratch?.()]
    expect(await bench.count(async () => unused?.close())).toEqual([])
    await used?.write(at('/a'), encode('x'))
    bench.interceptor = ({ name }, send) =>
      name.startsWith('Delete') ? Promise.reject(answer(403, 'AccessDenied')) : send()
    const failed: unknown = await used?.close().then(undefined, (error: unknown) => error)
    if (!isWorkspaceError(failed)) throw new Error('it was closed')
    expect(failed).toMatchObject({ code: 'EBACKEND', operation: 'close' })
    expect(failed.message).toContain('temporary files')
    expect(failed.message).not.toContain('delete again')
  })
})
