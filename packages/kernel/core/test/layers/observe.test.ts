import { describe, expect, it } from 'vitest'
import { LinkSignal, type AdapterEvent } from '../../src/adapter.ts'
import { paths, WorkspaceError, observe, readOnly } from '../../src/index.ts'
import { items, rejection, stub } from './stub.ts'

const file = { type: 'file', size: 3, version: '1' } as const
const bytes = new Uint8Array([1, 2, 3])

function watched(methods: Parameters<typeof stub>[0]): { view: ReturnType<typeof observe>; events: unknown[] } {
  const events: unknown[] = []
  const listener = (event: AdapterEvent): void => {
    if (event.phase === 'after') expect(event.duration).toBeGreaterThanOrEqual(0)
    events.push(event.phase === 'after' ? { ...event, duration: 0 } : event)
  }
  return { view: observe(stub(methods).adapter, listener), events }
}

describe('observe', () => {
  it('tells of an operation before and after, with the bytes that were moved', async () => {
    const { view, events } = watched({
      read: async () => ({ bytes, stat: file }),
      write: async (_, data) => ({
        version: '1',
        size: (await Array.fromAsync(data as AsyncIterable<Uint8Array>)).length,
      }),
    })
    await view.read(paths.parseMount('/a'))
    await view.write(paths.parseMount('/b'), items([bytes, bytes]))
    expect(events).toEqual([
      { phase: 'before', operation: 'read', path: '/a' },
      { phase: 'after', operation: 'read', path: '/a', duration: 0, outcome: 'done', bytes: 3 },
      { phase: 'before', operation: 'write', path: '/b' },
      { phase: 'after', operation: 'write', path: '/b', duration: 0, outcome: 'done', bytes: 6 },
    ])
  })

  it('tells how an operation failed, and lets the very error through', async () => {
    const error = new WorkspaceError({ code: 'ENOENT', operation: 'move', path: '/a', reason: 'gone' })
    const link = new LinkSignal({ at: paths.parseMount('/l'), target: 't', rest: '' })
    const { view, events } = watched({ move: () => Promise.reject(error), delete: () => Promise.reject(link) })
    expect(await rejection(view.move(paths.parseMount('/a'), paths.parseMount('/b')))).toBe(error)
    expect(await rejection(view.delete(paths.parseMount('/l')))).toBe(link)
    expect(events.filter((_, index) => index % 2 === 1)).toEqual([
      {
        phase: 'after',
        operation: 'move',
        path: '/a',
        destination: '/b',
        duration: 0,
        outcome: 'failed',
        code: 'ENOENT',
      },
      { phase: 'after', operation: 'delete', path: '/l', duration: 0, outcome: 'link' },
    ])
  })

  it('tells of a listing when it is finished or left, and not of one that nobody began', async () => {
    const entries = ['a', 'b'].map((name) => ({ path: paths.parseMount(`/${name}`), name, type: 'file' as const }))
    const { view, events } = watched({ list: () => items(entries) })
    view.list(paths.parseMount('/'))
    await view.list(paths.parseMount('/')).return?.()
    expect(events).toEqual([])
    for await (const entry of view.list(paths.parseMount('/'))) {
      expect(entry.name).toBe('a')
      break
    }
    expect(events).toHaveLength(2)
    expect(await Array.fromAsync(view.list(paths.parseMount('/')))).toEqual(entries)
    expect(events).toHaveLength(4)
  })

  it('counts a stream as far as it was read, and releases one that was not', async () => {
    let released = 0
    const stream = (): AsyncIterableIterator<Uint8Array> => ({
      next: async () => ({ done: false, value: bytes }),
      return: async () => {
        released += 1
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    })
    const { view, events } = watched({ readStream: async () => ({ stat: file, stream: stream() }) })
    const first = await view.readStream(paths.parseMount('/a'))
    for await (const _ of first.stream) break
    await (await view.readStream(paths.parseMount('/a'))).stream.return?.()
    expect(released).toBe(2)
    expect(events.filter((_, index) => index % 2 === 1)).toMatchObject([{ bytes: 3 }, { bytes: 0 }])
  })

  it('ignores a listener that throws or rejects', async () => {
    const listeners: ((event: AdapterEvent) => void)[] = [
      () => {
        throw new Error('x')
      },
      () => Promise.reject(new Error('x')),
    ]
    for (const listener of listeners) {
      const view = observe(stub().adapter, listener)
      expect((await view.stat(paths.parseMount('/'))).type).toBe('directory')
    }
  })
})

describe('readOnly', () => {
  it('refuses every change before the inner adapter hears of it', async () => {
    const { adapter, calls } = stub({
      append: async () => ({ version: '1', size: 1 }),
      createSymlink: async () => undefined,
      readSymlink: async () => 'target',
    })
    const view = readOnly(adapter)
    const body = items<Uint8Array>([], new Error('the body was touched'))
    for (const change of [
      view.write(paths.parseMount('/a'), body),
      view.append?.(paths.parseMount('/a'), bytes),
      view.createDirectory(paths.parseMount('/a'), { recursive: true }),
      view.createSymlink?.(paths.parseMount('/a'), 'x'),
      view.delete(paths.parseMount('/a'), { force: true }),
      view.move(paths.parseMount('/a'), paths.parseMount('/b')),
      view.copy(paths.parseMount('/a'), paths.parseMount('/b')),
    ]) {
      expect(await rejection(change)).toMatchObject({ code: 'EROFS', path: '/a' })
    }
    expect(calls).toEqual([])
    expect(view.capabilities.readOnly).toBe(true)
    expect(await view.readSymlink?.(paths.parseMount('/a'))).toBe('target')
  })
})
