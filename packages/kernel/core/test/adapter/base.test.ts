import { describe, expect, it } from 'vitest'

import { paths } from '../../src/index.ts'
import {
  collect,
  defineAdapter,
  type Driver,
  type Entry,
  type StorageAdapter,
  type WriteData,
} from '../../src/adapter.ts'
import type { EntryIterator } from '../../src/inner.ts'
import { rejection } from '../layers/stub.ts'
import { driverOf, file } from './driver.ts'

const bytes = new Uint8Array([1, 2, 3])
const scopes = { conditionalWrite: 'none', conditionalDelete: 'none', conditionalMove: 'none' } as const
const done = { version: 'v2', size: 3 }

/** Each change, on a path and with options. */
const changes: Readonly<Record<string, (adapter: StorageAdapter, path: string, options?: object) => unknown>> = {
  write: (adapter, path, options) => adapter.write(paths.parseMount(path), bytes, options),
  append: (adapter, path, options) => adapter.append?.(paths.parseMount(path), bytes, options),
  delete: (adapter, path, options) => adapter.delete(paths.parseMount(path), options),
  move: (adapter, path, options) => adapter.move(paths.parseMount(path), paths.parseMount('/to'), options),
  copy: (adapter, path, options) => adapter.copy(paths.parseMount(path), paths.parseMount('/to'), options),
}

describe('the base of adapters', () => {
  it.each([
    ['write', { ifVersion: 'absent' }],
    ['append', { ifVersion: 'v1' }],
    ['delete', { ifVersion: 'v1' }],
    ['move', { ifSource: 'v1' }],
    ['move', { ifDestination: 'absent' }],
    ['copy', { ifSource: 'v1' }],
    ['copy', { ifDestination: 'v1' }],
  ])('refuses a condition that nobody checks, before the driver hears of it: %s %j', async (operation, options) => {
    const adapter = defineAdapter(driverOf({ append: async () => done }, { ...scopes, append: true }))
    const error = await rejection(changes[operation]?.(adapter, '/a', options) as Promise<unknown>)
    expect(error).toMatchObject({ code: 'ENOTSUP', operation, path: '/a', remedy: expect.any(String) })
  })

  it('passes a condition on where somebody checks it', async () => {
    const given: unknown[] = []
    const driver = driverOf({
      write: async (_path, _data, options) => {
        given.push(options)
        return done
      },
    })
    await defineAdapter(driver).write(paths.parseMount('/a'), bytes, { ifVersion: 'v1' })
    const defaults = { listed: false, parents: false, mode: undefined, durable: false, signal: undefined }
    expect(given).toEqual([{ ifVersion: 'v1', ...defaults }])
  })

  it.each(['write', 'append', 'delete', 'move'])('keeps the root where it is: %s', async (operation) => {
    const adapter = defineAdapter(driverOf({ append: async () => done }, { append: true }))
    const error = await rejection(changes[operation]?.(adapter, '/') as Promise<unknown>)
    expect(error).toMatchObject({ code: 'EBUSY', operation, path: '/' })
  })

  it('keeps the root from being replaced', async () => {
    const error = await rejection(
      defineAdapter(driverOf()).move(paths.parseMount('/a'), paths.parseMount('/'), { overwrite: true }),
    )
    expect(error).toMatchObject({ code: 'EBUSY', operation: 'move', path: '/' })
  })

  it('refuses a path that is longer than the store takes, in bytes', async () => {
    const adapter = defineAdapter(driverOf({ stat: async () => file }, { maxPathBytes: 9 }))
    await expect(adapter.stat(paths.parseMount('/12345678'))).resolves.toEqual(file)
    expect(await rejection(adapter.stat(paths.parseMount('/1234567é')))).toMatchObject({
      code: 'ENAMETOOLONG',
      path: '/1234567é',
    })
    const destination = await rejection(adapter.copy(paths.parseMount('/a'), paths.parseMount('/1234567é')))
    expect(destination).toMatchObject({ code: 'ENAMETOOLONG', path: '/1234567é' })
  })

  it.each([-1, 0o1000, 1.5, Number.NaN])('refuses the mode %s', async (mode) => {
    const error = await rejection(defineAdapter(driverOf()).write(paths.parseMount('/a'), bytes, { mode }))
    expect(error).toMatchObject({ code: 'EINVAL', operation: 'write', path: '/a' })
  })

  it('has the optional operations of its driver, and no others', () => {
    const without = defineAdapter(driverOf())
    expect([without.append, without.search, without.flush, without.createScratch]).toEqual(Array(4).fill(undefined))
    const appending = defineAdapter(driverOf({ append: async () => done }))
    expect(appending.append).toBeTypeOf('function')
    expect([appending.capabilities.append, without.capabilities.append]).toEqual([true, false])
  })

  it.each<[string, Driver]>([
    ['append', driverOf({}, { append: true })],
    ['flush', driverOf({ flush: async () => undefined }, { flush: false })],
    ['read', { ...driverOf(), read: undefined } as unknown as Driver],
    ['name', driverOf({ name: ' ' })],
    ['capabilities', { ...driverOf(), capabilities: undefined } as unknown as Driver],
  ])('refuses a driver that does not agree with itself: %s', (what, driver) => {
    expect(() => defineAdapter(driver)).toThrow(expect.objectContaining({ code: 'EINVAL', operation: 'defineAdapter' }))
    expect(() => defineAdapter(driver)).toThrow(new RegExp(what))
  })
})

it('a listing ends with its adapter, also where its entries are at hand', async () => {
  const entry: Entry = { path: paths.parseMount('/a'), name: 'a', type: 'file' }
  const listing: EntryIterator = {
    next: async () => ({ done: false, value: entry }),
    nextNow: () => entry,
    [Symbol.asyncIterator]: () => listing,
  }
  const adapter = defineAdapter(driverOf({ list: () => listing }), { trusted: true })
  const entries: EntryIterator = adapter.list(paths.parseMount('/'))
  expect(entries.nextNow?.()).toBeUndefined()
  expect((await entries.next()).value).toEqual(entry)
  expect(entries.nextNow?.()).toEqual(entry)
  await adapter.close()
  expect(entries.nextNow?.()).toBeUndefined()
  expect(await rejection(entries.next())).toMatchObject({ code: 'ECLOSED', operation: 'list' })
})

describe('a stream that is written', () => {
  const collecting: Partial<Driver> = {
    write: async (_path, data) => ({ version: 'v2', size: (await collect(data)).length }),
  }
  const adapters = (): [string, StorageAdapter][] => [
    ['trusted', defineAdapter(driverOf(collecting), { trusted: true })],
    ['not trusted', defineAdapter(driverOf(collecting))],
  ]

  /** A stream that gives a chunk, and then hangs, also when it is left. */
  function hanging(): { data: AsyncIterable<Uint8Array>; asked: Promise<void>; left: () => boolean } {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    let [count, left] = [0, false]
    const never = new Promise<never>(() => undefined)
    const iterator: AsyncIterator<Uint8Array> = {
      async next() {
        count += 1
        if (count === 1) return { done: false, value: bytes }
        resolve()
        return await never
      },
      return() {
        left = true
        return never
      },
    }
    return { data: { [Symbol.asyncIterator]: () => iterator }, asked, left: () => left }
  }

  it.each(adapters())('fails with its own error, whatever that is (%s)', async (_, adapter) => {
    for (const own of [new Error('mine'), Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'read' })]) {
      const data = (async function* (): AsyncGenerator<Uint8Array> {
        yield bytes
        throw own
      })()
      expect(await rejection(adapter.write(paths.parseMount('/a'), data))).toBe(own)
    }
    const refused = new Error('no iterator')
    const data: WriteData = {
      [Symbol.asyncIterator]() {
        throw refused
      },
    }
    expect(await rejection(adapter.write(paths.parseMount('/a'), data))).toBe(refused)
  })

  it.each(adapters())('is ended by an abort though it hangs (%s)', async (_, adapter) => {
    const { data, asked, left } = hanging()
    const controller = new AbortController()
    const writing = rejection(adapter.write(paths.parseMount('/a'), data, { signal: controller.signal }))
    await asked
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await writing).toBe(reason)
    expect(left()).toBe(true)
  })

  it.each(adapters())('is ended by the end of the adapter though it hangs (%s)', async (_, adapter) => {
    const { data, asked, left } = hanging()
    const writing = rejection(adapter.write(paths.parseMount('/a'), data))
    await asked
    await adapter.close()
    expect(await writing).toMatchObject({ code: 'ECLOSED', operation: 'write', path: '/a' })
    expect(left()).toBe(true)
  })

  it.each(adapters())('gives bytes, and nothing else (%s)', async (_, adapter) => {
    const data = (async function* () {
      yield 'text'
    })() as unknown as WriteData
    expect(await rejection(adapter.write(paths.parseMount('/a'), data))).toMatchObject({ code: 'EINVAL', path: '/a' })
  })
})
