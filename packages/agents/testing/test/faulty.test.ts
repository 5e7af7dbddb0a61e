import { createMemoryAdapter } from '@ws/adapter-memory'
import { observe, paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'

import type { Fault } from '../src/faults.ts'
import { createTestWorkspace, faulty, toTree } from '../src/index.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const files = { '/a.md': 'one', '/d/b.md': 'two', '/d/c.md': 'three' }
const open = (faults: readonly Fault[], inner: StorageAdapter = createMemoryAdapter({ files })) => faulty(inner, faults)
const code = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )

describe('faulty', () => {
  it('fails by operation, path and count, and says what was met', async () => {
    const adapter = open([{ kind: 'error', code: 'EIO', operation: 'read', path: '/d/**', skip: 1, times: 2 }])
    const reads: unknown[] = []
    for (const path of ['/d/b.md', '/a.md', '/d/b.md', '/d/c.md', '/d/b.md'])
      reads.push(await code(adapter.read(paths.parseMount(path))))
    expect(reads).toEqual(['done', 'done', 'EIO', 'EIO', 'done'])
    expect(await code(adapter.stat(paths.parseMount('/d/b.md')))).toBe('done')
    expect(adapter.met).toEqual([
      { kind: 'error', operation: 'read', path: '/d/b.md' },
      { kind: 'error', operation: 'read', path: '/d/c.md' },
    ])
  })

  it('names the path and a remedy in its errors', async () => {
    const adapter = open([{ kind: 'error', operation: ['move', 'copy'], path: 'z.md' }])
    await expect(adapter.move(paths.parseMount('/a.md'), paths.parseMount('/z.md'))).rejects.toMatchObject({
      code: 'EBACKEND',
      operation: 'move',
      path: '/a.md',
      remedy: 'try again',
    })
    expect(await code(adapter.copy(paths.parseMount('/a.md'), paths.parseMount('/y.md')))).toBe('done')
  })

  it('chooses the same calls for the same seed', async () => {
    const run = async (seed: number): Promise<unknown[]> => {
      const adapter = open([{ kind: 'error', operation: 'stat', chance: 0.3, seed }])
      return Promise.all(Array.from({ length: 100 }, () => code(adapter.stat(paths.parseMount('/a.md')))))
    }
    const [first, again, other] = [await run(7), await run(7), await run(8)]
    expect(first).toEqual(again)
    expect(first).not.toEqual(other)
    const failed = first.filter((it) => it === 'EBACKEND').length
    expect(failed).toBeGreaterThan(15)
    expect(failed).toBeLessThan(45)
  })

  it('delays a call, until its signal or the end of the adapter', async () => {
    const adapter = open([
      { kind: 'delay', duration: 5, operation: 'stat', times: 1 },
      { kind: 'delay', duration: 2 ** 31 - 1 },
    ])
    expect(await code(adapter.stat(paths.parseMount('/a.md')))).toBe('done')
    const controller = new AbortController()
    const aborted = [
      adapter.read(paths.parseMount('/a.md'), { signal: controller.signal }),
      adapter.list(paths.parseMount('/'), { signal: controller.signal }).next(),
    ]
    controller.abort(new Error('enough'))
    for (const call of aborted) await expect(call).rejects.toBe(controller.signal.reason)
    const waiting = adapter.read(paths.parseMount('/a.md'))
    await adapter.close()
    expect(await code(waiting)).toBe('ECLOSED')
  })

  it('tears a stream that is read after so many bytes, and closes what it came from', async () => {
    const inner = createMemoryAdapter({ files })
    let closed = 0
    const watched: StorageAdapter = {
      ...observe(inner, () => undefined),
      readStream: async (path, options) => {
        const { stat, stream } = await inner.readStream(path, options)
        const leave = async (): Promise<IteratorResult<Uint8Array>> => {
          closed += 1
          return { done: true, value: undefined }
        }
        return {
          stat,
          stream: Object.assign(Object.create(stream), { next: () => stream.next(), return: leave }) as typeof stream,
        }
      },
    }
    const adapter = open([{ kind: 'torn', after: 2 }], watched)
    const read = async (path: string): Promise<string> => {
      const { stream } = await adapter.readStream(paths.parseMount(path))
      let text = ''
      try {
        for await (const chunk of stream) text += new TextDecoder().decode(chunk)
      } catch (error) {
        return `${text} ${(error as { code: string }).code}`
      }
      return text
    }
    expect(await read('/a.md')).toBe('on EBACKEND')
    expect(closed).toBe(1)
    const { stream } = await adapter.readStream(paths.parseMount('/a.md'))
    await stream.return?.()
    expect(closed).toBe(2)
    adapter.setFaults([{ kind: 'torn', after: 99 }])
    expect(await read('/a.md')).toBe('one EBACKEND')
    adapter.setFaults([])
    expect(await read('/a.md')).toBe('one')
  })

  it('tears a body, and the old content stays; tears a listing and a search', async () => {
    const adapter = open([{ kind: 'torn', after: 1 }])
    async function* body(): AsyncGenerator<Uint8Array> {
      yield encode('new')
    }
    expect(await code(adapter.write(paths.parseMount('/a.md'), body()))).toBe('EBACKEND')
    expect(await code(adapter.write(paths.parseMount('/a.md'), encode('new')))).toBe('EBACKEND')
    expect(await code(adapter.read(paths.parseMount('/a.md')))).toBe('EBACKEND')
    const listed: string[] = []
    const list = async (): Promise<void> => {
      for await (const { path } of adapter.list(paths.parseMount('/d'))) listed.push(path)
    }
    expect(await code(list())).toBe('EBACKEND')
    expect(listed).toHaveLength(1)
    const found = adapter.search?.({ in: paths.parseMount('/'), pattern: 't' })
    await found?.next()
    expect(await code(found?.next() ?? Promise.resolve())).toBe('EBACKEND')
    expect(await code(adapter.stat(paths.parseMount('/a.md')))).toBe('done')
    adapter.setFaults([])
    expect(await toTree(adapter)).toMatchObject({ 'a.md': 'one' })
  })

  it('loses an answer: the change is there', async () => {
    const adapter = open([{ kind: 'lost' }])
    expect(await code(adapter.write(paths.parseMount('/a.md'), encode('new')))).toBe('EBACKEND')
    expect(await code(adapter.delete(paths.parseMount('/d/b.md')))).toBe('EBACKEND')
    expect(await code(adapter.readStream(paths.parseMount('/a.md')))).toBe('EBACKEND')
    const listing = adapter.list(paths.parseMount('/'))
    expect([await code(listing.next()), await code(listing.next()), await code(listing.next())]).toEqual([
      'done',
      'done',
      'EBACKEND',
    ])
    adapter.setFaults([])
    expect(await toTree(adapter)).toEqual({ 'a.md': 'new', d: { 'c.md': 'three' } })
  })

  it.each<[string, unknown, RegExp]>([
    ['an unknown kind', { kind: 'eror' }, /`faults\[0\]\.kind` must be `error`, `delay`, `torn` or `lost`/],
    ['a field of another kind', { kind: 'error', after: 1 }, /after/],
    ['a misspelt field', { kind: 'error', opration: 'read' }, /opration/],
    ['an unknown operation', { kind: 'error', operation: 'readText' }, /operation/],
    ['an operation that never fails', { kind: 'error', operation: 'close' }, /operation/],
    ['a chance of 0', { kind: 'lost', chance: 0 }, /a number above 0 to 1/],
    ['a delay without duration', { kind: 'delay' }, /duration/],
    ['something else', 7, /faults\[0\]/],
  ])('refuses %s', (_, fault, says) => {
    expect(() => open([fault as Fault])).toThrow(
      expect.objectContaining({ code: 'EINVAL', message: expect.stringMatching(says) }),
    )
    expect(() => open([]).setFaults([fault as Fault])).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  })

  it('is below a workspace for tests', async () => {
    await using site = await createTestWorkspace({
      files: { 'a.md': 'a' },
      faults: [{ kind: 'error', operation: 'write', times: 1 }],
    })
    expect(await code(site.workspace.write('/b.md', 'b'))).toBe('EBACKEND')
    expect(await code(site.workspace.write('/b.md', 'b'))).toBe('done')
    expect(site.faults.met).toHaveLength(1)
    site.faults.setFaults([{ kind: 'error' }])
    expect(await toTree(site.store)).toEqual({ 'a.md': 'a', 'b.md': 'b' })
    site.faults.setFaults([])
  })
})
