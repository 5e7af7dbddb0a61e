import { ListMultipartUploadsCommand, ListObjectsV2Command, ListPartsCommand } from '@aws-sdk/client-s3'
import { paths } from '@ws/core'
import { describeWith, deep } from '@ws/test-fixtures'
import { seededFaults, seededRandom, startFaultProxy, type RecordedRequest, type S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { adapterOn, longTimeout } from './site.ts'
import { look, Writer, type Outcome } from './writer.ts'

const operations = deep ? 500 : 80
const writerCount = 8
const seed = Number(process.env['WS_SEED'] ?? 20_261_122)
const prefix = 'resilience'
const partBytes = 5 * 2 ** 20
/** Milliseconds: a loaded machine needs less for a request. */
const attemptTimeout = 2_000
/** Milliseconds of one request with all its attempts, and of an operation, which is a few requests. */
const deadline = 60_000
const operationDeadline = 2 * deadline

describeWith(s3Needs('ceph'), 'with one request in five failing', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await sharedS3Server('ceph')
  })
  afterAll(() => server?.close())

  it(`keeps what it has acknowledged, byte for byte, over ${operations} operations (seed ${seed})`, {
    tags: ['all', 'rounds'],
    timeout: longTimeout,
  }, async ({ annotate }) => {
    const { bucket } = server
    await using proxy = await startFaultProxy(server)
    await using direct = await adapterOn(server, { prefix, partBytes })
    await using adapter = await adapterOn(proxy, { prefix, partBytes, attemptTimeout, deadline })
    const writers = await Promise.all(
      Array.from({ length: writerCount }, async (_, index) => {
        const directory = `/writer ${index}`
        await direct.createDirectory(paths.parseMount(directory))
        const options = { adapter, direct, directory, seed: seed + index, deadline: operationDeadline }
        return new Writer({ ...options, largeBytes: partBytes + 100_000 })
      }),
    )
    proxy.clear()
    proxy.setFaults(seededFaults({ seed }))

    const outcomes: Record<Outcome, number> = { done: 0, refused: 0, unknown: 0 }
    let left = operations
    const random = seededRandom(seed)
    await Promise.all(
      writers.map(async (writer) => {
        try {
          while (left > 0) {
            left -= 1
            const { outcome } = await writer.step()
            outcomes[outcome] += 1
            // files that others are writing just now must be whole for every reader
            const other = writers[Math.floor(random() * writers.length)]
            await look(direct, other?.paths[Math.floor(random() * other.paths.length)] ?? '/')
          }
        } finally {
          // a failing writer ends the others
          left = 0
        }
      }),
    )

    const faulty = proxy.requests.filter(({ fault }) => fault !== undefined).length
    await annotate(`${JSON.stringify(outcomes)}; ${faulty} of ${proxy.requests.length} requests failed`)
    expect(faulty / proxy.requests.length).toBeGreaterThan(0.15)
    expect(outcomes.done).toBeGreaterThan(operations / 2)
    // ten attempts fail once in ten million; some of what fails late cannot be tried again
    expect(outcomes.unknown).toBeLessThanOrEqual(Math.ceil(operations / 100))

    for (const writer of writers) {
      for (const path of writer.paths) {
        const { state } = await look(direct, path)
        expect({ path, state }).toEqual({ path, state: writer.files.get(path).state })
      }
    }
    const client = server.client()
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
    const files = Contents.map(({ Key = '' }) => Key).filter((key) => !key.endsWith('/'))
    const expected = writers.flatMap(({ files: known }) => known.present().map(([path]) => `${prefix}${path}`))
    expect(files.toSorted(byText)).toEqual(expected.toSorted(byText))
    // An upload whose beginning was not answered has an unknown id: it stays, and has no parts.
    const unanswered = proxy.requests.filter((request) => wasLost(request, 'CreateMultipartUpload')).length
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
    expect(Uploads.length).toBeLessThanOrEqual(unanswered)
    for (const { Key, UploadId } of Uploads) {
      expect((await client.send(new ListPartsCommand({ Bucket: bucket, Key, UploadId }))).Parts ?? []).toEqual([])
    }
  })
})

/** The server has done it, and its answer has not come whole. */
function wasLost({ operation, serverStatus, fault }: RecordedRequest, wanted: string): boolean {
  return operation === wanted && serverStatus === 200 && fault !== undefined && fault.kind !== 'delay'
}

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
