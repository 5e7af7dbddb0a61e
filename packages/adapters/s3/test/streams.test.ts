/** @module-tag all */
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { at, Bench, encode, tagsInAll } from './support.ts'

const MiB = 1024 * 1024
const partBytes = 5 * MiB

/** Chunks of odd sizes, which no part ends with. */
async function* body(bytes: number, seed = 0, chunk = 700_001): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes; offset += chunk) {
    yield new Uint8Array(Math.min(chunk, bytes - offset)).fill((offset / chunk + seed) & 255)
  }
}

async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `streams on ${name}`, { tags: tagsInAll(name) }, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    beforeEach(() => {
      bench.interceptor = (_, send) => send()
    })
    afterAll(() => bench.close())

    /** Uploads that were not finished; the simulator cannot list them. */
    const orphans = async (): Promise<number> => {
      if (name === 'r2') return 0
      const answer = await bench.client.send(new ListMultipartUploadsCommand({ Bucket: bench.server.bucket }))
      return answer.Uploads?.length ?? 0
    }
    const spooled = async (): Promise<number> =>
      (await readdir(tmpdir())).filter((entry) => entry.startsWith('ws-s3-')).length

    it('is whole when the store has another ETag for a part than it said, or fails', async () => {
      const adapter = await bench.adapter({ partBytes })
      bench.interceptor = async ({ name: sent }, send) => {
        const answer = (await send()) as { output: { ETag?: string } }
        if (sent === 'UploadPart') answer.output.ETag = `"${'0'.repeat(32)}"`
        return answer
      }
      const writing = adapter.write(at('/twice'), body(partBytes + 1))
      if (name === 'r2') {
        // the simulator cannot list parts
        await expect(writing).rejects.toMatchObject({ code: 'EIO', remedy: 'write it again' })
        await expect(adapter.stat(at('/twice'))).rejects.toMatchObject({ code: 'ENOENT' })
        return
      }
      await writing
      expect(await hashOf((await adapter.readStream(at('/twice'))).stream)).toBe(await hashOf(body(partBytes + 1)))
      expect(await orphans()).toBe(0)
    })

    it('goes up in equal parts and comes back byte for byte', async () => {
      const adapter = await bench.adapter({ partBytes })
      for (const size of [partBytes - 1, partBytes, partBytes + 1, 2 * partBytes + 12_345]) {
        const { size: written, version } = await adapter.write(at('/a'), body(size))
        expect(written).toBe(size)
        expect(version).toBe((await adapter.stat(at('/a'))).version)
        const { stream, stat } = await adapter.readStream(at('/a'))
        expect(stat).toMatchObject({ size, version })
        expect(await hashOf(stream)).toBe(await hashOf(body(size)))
      }
      expect(bench.requests.filter(({ name: sent }) => sent === 'UploadPart').length).toBe(1 + 2 + 3)
      expect(await orphans()).toBe(0)
    })

    it('leaves the old content, no part and no file of its own when a body fails or is given up', async () => {
      const adapter = await bench.adapter({ partBytes })
      const { version } = await adapter.write(at('/a'), encode('old'))
      const failure = new Error('the body failed')
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield* body(2 * partBytes)
        throw failure
      }
      const controller = new AbortController()
      async function* endless(): AsyncGenerator<Uint8Array> {
        yield* body(2 * partBytes)
        controller.abort(failure)
        yield* body(2 * partBytes)
      }
      for (const ifVersion of [undefined, version]) {
        await expect(adapter.write(at('/a'), failing(), { ifVersion })).rejects.toBe(failure)
        const { signal } = controller
        await expect(adapter.write(at('/a'), endless(), { ifVersion, signal })).rejects.toBe(failure)
      }
      bench.interceptor = ({ name: sent }, send) =>
        sent === 'UploadPart'
          ? Promise.reject(Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } }))
          : send()
      await expect(adapter.write(at('/a'), body(2 * partBytes))).rejects.toMatchObject({ code: 'EBACKEND' })
      bench.interceptor = (_, send) => send()
      expect((await adapter.read(at('/a'))).bytes).toEqual(encode('old'))
      // they are ended in the background
      await expect.poll(orphans).toBe(0)
      expect(await spooled()).toBe(0)
    })

    it('holds conditions of any length, though the server ignores them for uploads in parts', async () => {
      const adapter = await bench.adapter({ partBytes })
      await adapter.write(at('/a'), body(partBytes + 10), { ifVersion: 'absent' })
      const { version } = await adapter.stat(at('/a'))
      async function* meddling(): AsyncGenerator<Uint8Array> {
        yield* body(partBytes + 10, 1)
        await adapter.write(at('/a'), encode('meanwhile'))
        yield encode('x')
      }
      await expect(adapter.write(at('/a'), meddling(), { ifVersion: version })).rejects.toMatchObject({
        code: 'ECONFLICT',
      })
      expect((await adapter.read(at('/a'))).bytes).toEqual(encode('meanwhile'))
      const now = await adapter.stat(at('/a'))
      await adapter.write(at('/a'), body(partBytes + 20, 2), { ifVersion: now.version })
      expect((await adapter.stat(at('/a'))).size).toBe(partBytes + 20)
      expect(await spooled()).toBe(0)
    })

    it('finds a completed upload whose answer was lost, and does not take it for a failure', async () => {
      const adapter = await bench.adapter({ partBytes })
      let lost = 0
      bench.interceptor = async ({ name: sent }, send) => {
        const answer = await send()
        if (sent !== 'CompleteMultipartUpload' || lost > 0) return answer
        lost += 1
        throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
      }
      const { version } = await adapter.write(at('/a'), body(partBytes + 1))
      expect(lost).toBe(1)
      expect(version).toBe((await adapter.stat(at('/a'))).version)
      expect(await orphans()).toBe(0)
    })

    it('goes on from where a connection broke, on the same state only', async () => {
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix })
      const size = 3 * MiB
      await adapter.write(at('/a'), body(size))
      const ranges: string[] = []
      const breakAfter = (bytes: number): void => {
        ranges.length = 0
        bench.interceptor = async ({ name: sent }, send) => {
          const answer = (await send()) as { output: { Body?: AsyncIterable<Uint8Array>; ContentRange?: string } }
          if (sent !== 'GetObject') return answer
          ranges.push(answer.output.ContentRange ?? 'whole')
          const { Body: whole } = answer.output
          if (whole === undefined || ranges.length > 3) return answer
          const cut = Object.assign(broken(whole, bytes), { destroy: () => undefined, on: () => undefined })
          answer.output.Body = cut
          return answer
        }
      }
      breakAfter(MiB)
      const { stream } = await adapter.readStream(at('/a'))
      expect(await hashOf(stream)).toBe(await hashOf(body(size)))
      expect(ranges.length).toBeGreaterThan(1)

      breakAfter(MiB)
      const second = await adapter.readStream(at('/a'))
      await second.stream.next()
      await bench.put(`${prefix}/a`, new Uint8Array(size).fill(9))
      await expect(Array.fromAsync(second.stream)).rejects.toMatchObject({ code: 'ECONFLICT' })
    })

    it('tells bytes that were changed on their way from those that were stored', async () => {
      const adapter = await bench.adapter({ partBytes })
      await adapter.write(at('/a'), body(100_000))
      await adapter.write(at('/large'), body(2 * partBytes + 1))
      let times = 1
      bench.interceptor = async ({ name: sent }, send) => {
        const answer = (await send()) as { output: { Body?: AsyncIterable<Uint8Array> } }
        const { Body: whole } = answer.output
        if (sent !== 'GetObject' || whole === undefined || times === 0) return answer
        times -= 1
        answer.output.Body = Object.assign(flipped(whole), { destroy: () => undefined, on: () => undefined })
        return answer
      }
      const { bytes } = await adapter.read(at('/a'))
      expect(times).toBe(0)
      expect(Buffer.from(bytes)).toEqual(Buffer.concat(await Array.fromAsync(body(100_000))))
      times = 1
      const { stream } = await adapter.readStream(at('/a'))
      await expect(Array.fromAsync(stream)).rejects.toMatchObject({
        code: 'EIO',
        reason: expect.stringContaining('damaged'),
      })
      times = 1
      const large = await adapter.readStream(at('/large'))
      await expect(hashOf(large.stream)).rejects.toMatchObject({ code: 'EIO' })
      times = 1
      expect((await adapter.read(at('/large'))).bytes).toHaveLength(2 * partBytes + 1)
      expect(times).toBe(0)
    })
  })
}

/** A body whose connection breaks after some bytes. */
async function* broken(whole: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let given = 0
  for await (const chunk of whole) {
    if (given + chunk.length > bytes) {
      yield chunk.subarray(0, bytes - given)
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
    }
    given += chunk.length
    yield chunk
  }
}

async function* flipped(whole: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first = true
  for await (const chunk of whole) {
    const copy = new Uint8Array(chunk)
    if (first) copy[0] = (copy[0] ?? 0) ^ 1
    first = false
    yield copy
  }
}
