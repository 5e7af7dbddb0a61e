import { afterEach, describe, expect, it, vi } from 'vitest'

import {
  defineAdapter,
  LinkSignal,
  operations,
  type AdapterOperation,
  type Driver,
  type SignalOption,
  type StorageAdapter,
} from '../../src/adapter.ts'
import { isWorkspaceError, paths, WorkspaceError } from '../../src/index.ts'
import { rejection } from '../layers/stub.ts'
import { driverOf, file } from './driver.ts'

const bytes = new Uint8Array([1, 2, 3])
const path = paths.parseMount('/secret/file')
const names = Object.keys(operations) as AdapterOperation[]
const changing = names.filter((name) => operations[name].changes)

/** One call of each operation. */
const calls: Readonly<Record<AdapterOperation, (adapter: StorageAdapter, options?: SignalOption) => Promise<unknown>>> =
  {
    stat: (adapter, options) => adapter.stat(path, options),
    read: (adapter, options) => adapter.read(path, options),
    readStream: async (adapter, options) => Array.fromAsync((await adapter.readStream(path, options)).stream),
    readSymlink: async (adapter, options) => adapter.readSymlink?.(path, options),
    write: (adapter, options) => adapter.write(path, bytes, options),
    append: async (adapter, options) => adapter.append?.(path, bytes, options),
    list: (adapter, options) => Array.fromAsync(adapter.list(path, options)),
    search: async (adapter, options) => Array.fromAsync(adapter.search?.({ pattern: 'x', in: path }, options) ?? []),
    createDirectory: (adapter, options) => adapter.createDirectory(path, options),
    createSymlink: async (adapter, options) => adapter.createSymlink?.(path, 'target', options),
    chmod: async (adapter, options) => adapter.chmod?.(path, 0o600, options),
    utimes: async (adapter, options) => adapter.utimes?.(path, { modifiedAt: 1 }, options),
    delete: (adapter, options) => adapter.delete(path, options),
    move: (adapter, options) => adapter.move(path, paths.parseMount('/to'), options),
    copy: (adapter, options) => adapter.copy(path, paths.parseMount('/to'), options),
    flush: async (adapter, options) => adapter.flush?.(options),
    sync: async (adapter, options) => adapter.sync?.(options),
    refresh: async (adapter, options) => adapter.refresh?.(options),
    hostPath: async (adapter) => adapter.hostPath?.(path),
    hostDirectory: async (adapter) => adapter.hostDirectory?.(path),
    watch: async (adapter, options) => adapter.watch?.(path, options),
    beginCommand: async (adapter, options) => adapter.beginCommand?.(options),
    createScratch: async (adapter, options) => adapter.createScratch?.(options),
    createFork: async (adapter, options) => adapter.createFork?.(options),
    close: (adapter) => adapter.close(),
  }

/** An adapter all of whose operations do the same. */
function adapterDoing(work: (...args: unknown[]) => unknown): StorageAdapter {
  const methods = Object.fromEntries(names.map((name) => [name, work])) as Partial<Driver>
  return defineAdapter(driverOf(methods))
}

/** A driver's fault: with its name, the operation and the virtual path, and never the caller's mistake. */
function expectFault(error: unknown, operation: AdapterOperation): void {
  if (!isWorkspaceError(error)) throw new Error('not an error of the contract', { cause: error })
  const hasPath = !['flush', 'sync', 'refresh', 'beginCommand', 'createScratch', 'createFork', 'close'].includes(
    operation,
  )
  expect(error).toMatchObject({ code: 'EBACKEND', operation, path: hasPath ? path : '/' })
  expect(error.reason).toContain('the adapter odd has a fault')
  expect(error.reason).toContain(`\`${operation}\``)
  expect(error.remedy).toContain('authors')
}

afterEach(() => {
  vi.useRealTimers()
})

describe('a driver that breaks its promise is named as the cause', () => {
  it.each(names)('%s: a result of another shape', async (operation) => {
    const wrong = operation === 'list' || operation === 'search' ? [{ path: 7 }] : 7
    expectFault(await rejection(calls[operation](adapterDoing(() => wrong))), operation)
  })

  it.each(names)('%s: a foreign error', async (operation) => {
    const foreign = Object.assign(new Error('ENOENT: /host/path'), { code: 'ENOENT' })
    const thrown = await rejection(
      calls[operation](
        adapterDoing(() => {
          throw foreign
        }),
      ),
    )
    expectFault(thrown, operation)
    expect(String(thrown)).not.toContain('/host/path')
    const rejecting = adapterDoing(() => Promise.reject(foreign))
    expectFault(await rejection(calls[operation](rejecting)), operation)
  })

  it.each([
    ['text', 'text'],
    ['nothing', undefined],
  ])('a stream that gives %s in place of bytes, or fails', async (_, chunk) => {
    for (const error of [undefined, new TypeError('x is not a function')]) {
      const stream = (async function* () {
        yield bytes
        if (error !== undefined) throw error
        yield chunk
      })() as unknown as AsyncIterableIterator<Uint8Array>
      const adapter = defineAdapter(driverOf({ readStream: async () => ({ stat: file, stream }) }))
      expectFault(await rejection(calls.readStream(adapter)), 'readStream')
    }
  })

  it('a check of paths that throws', async () => {
    const checkPath = (): void => {
      throw new TypeError('odd')
    }
    const error = await rejection(calls.stat(defineAdapter(driverOf({ checkPath }))))
    expect(error).toMatchObject({ code: 'EBACKEND', operation: 'stat', path })
  })

  it.each(changing)('%s: a change that does not end after its abort', async (operation) => {
    vi.useFakeTimers()
    const adapter = adapterDoing(() => new Promise<never>(() => undefined))
    const controller = new AbortController()
    let error: unknown
    const failing = rejection(calls[operation](adapter, { signal: controller.signal })).then((it) => (error = it))
    controller.abort(new Error('enough'))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1_500)
    await failing
    expectFault(error, operation)
    expect((error as WorkspaceError).reason).toContain('may have taken place')
  })
})

describe('a driver that keeps its promise', () => {
  it.each(['stat', 'read', 'readStream', 'readSymlink', 'list', 'search'] as const)(
    '%s may hang: an abort ends the wait',
    async (operation) => {
      const hang = new Promise<never>(() => undefined)
      const iterator = { next: () => hang, return: () => hang, [Symbol.asyncIterator]: () => iterator }
      const adapter = adapterDoing(() => (operation === 'list' || operation === 'search' ? iterator : hang))
      const controller = new AbortController()
      const failing = rejection(calls[operation](adapter, { signal: controller.signal }))
      const reason = new Error('enough')
      controller.abort(reason)
      expect(await failing).toBe(reason)
    },
  )

  it.each(['read', 'write'] as const)(
    '%s: errors of the contract and links in the way come as they are',
    async (name) => {
      const known = new WorkspaceError({ code: 'EISDIR', operation: name, path, reason: 'is a directory' })
      const link = new LinkSignal({ at: paths.parseMount('/secret'), target: 'x', rest: 'file' })
      for (const error of [known, link]) {
        expect(await rejection(calls[name](adapterDoing(() => Promise.reject(error))))).toBe(error)
      }
    },
  )

  it.each(['read', 'write'] as const)('%s may end an abort with an error of Node', async (operation) => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const adapter = adapterDoing(async () => {
      controller.abort(reason)
      throw new DOMException('The operation was aborted', 'AbortError')
    })
    expect(await rejection(calls[operation](adapter, { signal: controller.signal }))).toBe(reason)
  })
})

it('the adapter of a scratch directory comes as it is', async () => {
  const scratch = defineAdapter(driverOf())
  expect(await defineAdapter(driverOf({ createScratch: async () => scratch })).createScratch?.()).toBe(scratch)
})

it('a stream that is opened after its caller has left is closed', async () => {
  const opening = Promise.withResolvers<{ stat: typeof file; stream: AsyncIterableIterator<Uint8Array> }>()
  const { promise: closed, resolve } = Promise.withResolvers<IteratorResult<Uint8Array>>()
  const adapter = defineAdapter(driverOf({ readStream: () => opening.promise }), { trusted: true })
  const controller = new AbortController()
  const failing = rejection(adapter.readStream(path, { signal: controller.signal }))
  controller.abort(new Error('enough'))
  await failing
  const stream: AsyncIterableIterator<Uint8Array> = {
    next: async () => ({ done: false, value: bytes }),
    return: async () => {
      resolve({ done: true, value: undefined })
      return closed
    },
    [Symbol.asyncIterator]: () => stream,
  }
  opening.resolve({ stat: file, stream })
  await closed
})
