/** @module-tag all */
import { isWorkspaceError, paths, type Version } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describeWith, deep } from '@ws/test-fixtures'
import { s3ServerNames, seededFaults, startFaultProxy, type S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { tagsInAll } from '../support.ts'
import { adaptersOn, longTimeout } from './site.ts'

vi.setConfig({ testTimeout: longTimeout })

const times = deep ? 4 : 1
const writerCount = 50
const path = paths.parseMount('/contended')
const other = paths.parseMount('/other')

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  for (const letter of text) yield encode(letter)
}
const codeOf = (error: unknown): string => (isWorkspaceError(error) ? error.code : String(error))

describe.each(s3ServerNames)('on %s', (name) => {
  describeWith(s3Needs(name), 'many writers of one file', { tags: tagsInAll(name) }, () => {
    let server: S3Server
    let adapters: StorageAdapter[] = []
    beforeAll(async () => {
      server = await sharedS3Server(name)
      adapters = await adaptersOn(server, 5)
    })
    afterAll(async () => {
      for (const adapter of adapters) await adapter.close()
      await server?.close()
    })

    /** All write at once under one condition. Returns what the winner wrote. */
    async function race(round: number, ifVersion: Version): Promise<string> {
      const results = await Promise.allSettled(
        Array.from({ length: writerCount }, async (_, index) => {
          const text = `round ${round}, writer ${index}`
          await adapters[index % adapters.length]?.write(path, encode(text), { ifVersion })
          return text
        }),
      )
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      const losers = results.flatMap((result) => (result.status === 'rejected' ? [codeOf(result.reason)] : []))
      expect({ winners: winners.length, losers: [...new Set(losers)] }).toEqual({ winners: 1, losers: ['ECONFLICT'] })
      return winners.join()
    }

    it(`lets exactly one of ${writerCount} with the same version win, ${times} times`, async () => {
      const [adapter] = adapters
      if (adapter === undefined) throw new Error('no adapter')
      let { version } = await adapter.write(path, encode('start'))
      for (let round = 0; round < times; round += 1) {
        const winner = await race(round, version)
        const { bytes, stat } = await adapter.read(path)
        expect(new TextDecoder().decode(bytes)).toBe(winner)
        version = stat.version
      }
    })

    it.each<[string, string, (adapter: StorageAdapter, text: string) => Promise<unknown>]>([
      ['delete', 'ENOENT', (adapter) => adapter.delete(path)],
      ['write', 'other', (adapter, text) => adapter.write(path, encode(text))],
      ['write of a stream', 'other', (adapter, text) => adapter.write(path, chunks(text))],
      ['copy', 'other', (adapter) => adapter.copy(other, path, { overwrite: true })],
    ])('loses no %s to a conditional write that it meets, where both say that they were done', async (_, end, run) => {
      const [writer, runner] = adapters
      if (writer === undefined || runner === undefined) throw new Error('no adapter')
      await writer.write(other, encode('other'))
      const outcomes = new Set<string>()
      for (let round = 0; round < times * 20; round += 1) {
        const { version } = await writer.write(path, encode(`one ${round}`))
        const later = async (act: () => Promise<unknown>): Promise<string> => {
          await delay(Math.random() * 4)
          return act().then(() => 'done', codeOf)
        }
        const [written, ran] = await Promise.all([
          later(() => writer.write(path, encode(`two ${round}`), { ifVersion: version })),
          later(() => run(runner, 'other')),
        ])
        const there = await writer.read(path).then(({ bytes }) => new TextDecoder().decode(bytes), codeOf)
        outcomes.add(`${written} ${ran} ${there}`)
      }
      expect(
        [...outcomes].filter((outcome) => !new RegExp(`^(done|ECONFLICT) done ${end}$`, 'u').test(outcome)),
      ).toEqual([])
    })

    it(`lets exactly one of ${writerCount} create a file, ${times} times`, async () => {
      for (let round = 0; round < times; round += 1) {
        await adapters[0]?.delete(path, { force: true })
        const winner = await race(round, 'absent')
        const { bytes } = (await adapters[1]?.read(path)) ?? {}
        expect(new TextDecoder().decode(bytes)).toBe(winner)
      }
    })

    const [counters, target] = deep ? [20, 250] : [4, 20]
    it(`counts to ${target} through compare-and-swap by ${counters}`, async () => {
      const { counted, unknown } = await count(adapters, counters, target)
      expect({ counted, unknown }).toEqual({ counted: target, unknown: 0 })
    })
  })
})

describeWith(s3Needs('ceph'), 'when answers are lost', () => {
  const [counters, target] = deep ? [10, 250] : [4, 20]
  it(`counts each of ${target} increments once, by ${counters} that swap`, async () => {
    await using server = await sharedS3Server('ceph')
    await using proxy = await startFaultProxy(server)
    const adapters = await adaptersOn(proxy, counters)
    proxy.setFaults(seededFaults({ seed: 5, rate: 0.25, kinds: ['status', 'reset', 'truncate'] }))
    try {
      const { counted, unknown } = await count(adapters, counters, target)
      expect(proxy.requests.some(({ fault, serverStatus }) => fault !== undefined && serverStatus === 200)).toBe(true)
      // if its answer was lost and many writers have overwritten its mark, a client cannot know whether it counted
      expect(counted).toBeGreaterThanOrEqual(target - unknown)
      expect(counted).toBeLessThanOrEqual(target)
      expect(unknown).toBeLessThanOrEqual(target / 20)
    } finally {
      for (const adapter of adapters) await adapter.close()
    }
  })
})

/** Increments a number in a file `target` times in all. Returns the number, and how many increments ended unknown. */
async function count(adapters: readonly StorageAdapter[], counters: number, target: number) {
  const counter = paths.parseMount('/counter')
  const [first] = adapters
  if (first === undefined) throw new Error('no adapter')
  const read = async (adapter: StorageAdapter) => {
    const { bytes, stat } = await adapter.read(counter)
    return { value: Number(new TextDecoder().decode(bytes)), version: stat.version }
  }
  await first.write(counter, encode('0'))
  let left = target
  let unknown = 0
  const increment = async (adapter: StorageAdapter): Promise<void> => {
    for (let lost = 0; ; lost += 1) {
      const { value, version } = await read(adapter)
      try {
        await adapter.write(counter, encode(`${value + 1}`), { ifVersion: version })
        return
      } catch (error) {
        const code = codeOf(error)
        if (code === 'EIO') {
          unknown += 1
          return
        }
        if (code !== 'ECONFLICT') throw error
        await delay(Math.random() * Math.min(1_000, 10 * 2 ** lost))
      }
    }
  }
  await Promise.all(
    Array.from({ length: counters }, async (_, index) => {
      while (left > 0) {
        left -= 1
        await increment(adapters[index % adapters.length] ?? first)
      }
    }),
  )
  return { counted: (await read(first)).value, unknown }
}
