import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Reserve } from '@ws/sandbox'
import { describe, expect, it, vi } from 'vitest'

import { realpath } from '../src/index.ts'
import { at, bytes, collect, failureOf, openSite, readText, scratch, text } from './support.ts'

const hasProc = existsSync('/proc/self/fd')

/** Descriptors of this process that are open below a directory. */
function descriptorsIn(root: string): string[] {
  const open: string[] = []
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`)
      if (target.startsWith(`${root}/`)) open.push(target)
    } catch {
      // the descriptor of the listing itself
    }
  }
  return open
}

for (const io of ['auto', 'async'] as const) {
  describe(`reading, io: ${io}`, () => {
    it('[HO2] tells of a shortage in the middle of a listing, and lists again after it', async () => {
      const { adapter, root } = await openSite({ io })
      await mkdir(join(root, 'a/b/c'), { recursive: true })
      const native = Object.assign(new Error(`EMFILE: too many open files, scandir '${root}'`), { code: 'EMFILE' })
      const entries = adapter.list(at('/'), { recursive: true })[Symbol.asyncIterator]()
      expect(await entries.next()).toMatchObject({ value: { path: '/a' } })
      const looking = vi.spyOn(Reserve.reservedNames, 'generation').mockImplementation(() => {
        throw native
      })
      const failure = await failureOf(entries.next())
      looking.mockRestore()
      expect(failure).toMatchObject({ code: 'EIO', remedy: expect.stringContaining('limit on open files') })
      expect(failure.message).not.toContain(root)
      if (hasProc) expect(descriptorsIn(root)).toEqual([])
      expect(await collect(adapter.list(at('/'), { recursive: true }))).toHaveLength(3)
    })

    it('gives ranges, and the version of the very state that was read', async () => {
      const { adapter, root } = await openSite({ io })
      const content = 'x'.repeat(70_000) + 'y'.repeat(70_000)
      await writeFile(join(root, 'f'), content)
      const whole = await adapter.read(at('/f'))
      expect(text(whole.bytes)).toBe(content)
      expect(whole.stat).toEqual(await adapter.stat(at('/f')))
      const part = await adapter.read(at('/f'), { range: { offset: 69_998, length: 4 } })
      expect(text(part.bytes)).toBe('xxyy')
      expect(part.stat.size).toBe(140_000)
      expect((await adapter.read(at('/f'), { range: { offset: 1_000_000 } })).bytes).toHaveLength(0)
      expect((await adapter.read(at('/f'), { ifVersion: whole.stat.version })).bytes).toHaveLength(140_000)
      await appendFile(join(root, 'f'), '!')
      for (const call of [
        () => adapter.read(at('/f'), { ifVersion: whole.stat.version }),
        () => adapter.readStream(at('/f'), { ifVersion: whole.stat.version }),
      ]) {
        expect(await failureOf(call())).toMatchObject({ code: 'ECONFLICT' })
      }
    })

    it.skipIf(!hasProc)(
      'leaving a stream or a listing early releases its descriptors, failing and closing too',
      async () => {
        const { adapter, root } = await openSite({ io })
        await mkdir(join(root, 'd/e'), { recursive: true })
        await writeFile(join(root, 'd/f'), 'x'.repeat(1_000_000))
        const held = await adapter.readStream(at('/d/f'))
        expect(descriptorsIn(root)).toHaveLength(1)
        await held.stream.return?.()
        expect(descriptorsIn(root)).toEqual([])
        for await (const chunk of (await adapter.readStream(at('/d/f'))).stream) {
          expect(chunk.length).toBeLessThan(1_000_000)
          break
        }
        for await (const entry of adapter.list(at('/d'), { recursive: true })) {
          expect(entry.path).toMatch(/^\/d\//)
          break
        }
        adapter.list(at('/d')) // never begun: holds nothing
        for await (const hit of adapter.search({ pattern: 'x', regex: true, in: at('/') })) {
          expect(hit.path).toBe('/d/f')
          break
        }
        await failureOf(adapter.read(at('/d/f/x')))
        await failureOf(adapter.write(at('/d'), bytes('x')))
        await failureOf(adapter.copy(at('/d'), at('/d/e/c'), { recursive: true }))
        expect(descriptorsIn(root)).toEqual([])

        const stream = (await adapter.readStream(at('/d/f'))).stream
        const listing = adapter.list(at('/d'))
        await listing.next()
        await adapter.close()
        expect(descriptorsIn(root)).toEqual([])
        for (const call of [
          () => stream.next(),
          () => listing.next(),
          () => adapter.stat(at('/')),
          () => collect(adapter.list(at('/'))),
        ]) {
          expect(await failureOf(call())).toMatchObject({ code: 'ECLOSED' })
        }
        await adapter.close()
      },
    )

    it('an abort rejects with the reason: before, in a stream, in a listing', async () => {
      const { adapter, root } = await openSite({ io })
      await writeFile(join(root, 'f'), 'x'.repeat(2_000_000))
      const reason = new Error('enough')
      const signal = AbortSignal.abort(reason)
      for (const call of [
        () => adapter.read(at('/f'), { signal }),
        () => adapter.write(at('/f'), bytes(''), { signal }),
        () => adapter.delete(at('/f'), { signal }),
        () => collect(adapter.list(at('/'), { signal })),
        () => collect(adapter.search({ pattern: 'x', in: at('/') }, { signal })),
      ]) {
        expect(await failureOf(call())).toBe(reason)
      }
      const controller = new AbortController()
      const { stream } = await adapter.readStream(at('/f'), { signal: controller.signal })
      await stream.next()
      controller.abort(reason)
      expect(await failureOf(stream.next())).toBe(reason)
      expect((await stream.next()).done).toBe(true)
    })

    it('lists 1,000 entries once each; calls to next() at once keep their order', async () => {
      const { adapter, root } = await openSite({ io })
      for (let index = 0; index < 1_000; index += 1) await writeFile(join(root, `n${index}`), '')
      const seen = await collect(adapter.list(at('/')))
      expect(new Set(seen.map(({ name }) => name)).size).toBe(1_000)
      expect(seen).toHaveLength(1_000)
      const listing = adapter.list(at('/'))
      const together = await Promise.all(Array.from({ length: 100 }, () => listing.next()))
      await listing.return?.()
      expect(new Set(together.map(({ value }) => value?.name)).size).toBe(100)
    })

    it('lists a tree of small and large directories once each, and leaves nothing open wherever it is left', async () => {
      const { adapter, root } = await openSite({ io })
      const expected: string[] = []
      for (const [path, count] of Object.entries({ '/a': 3, '/a/b': 700, '/a/b/c': 40, '/a/d': 0, '/e': 1 })) {
        await mkdir(join(root, path))
        expected.push(path)
        for (let index = 0; index < count; index += 1) {
          await writeFile(join(root, path, `file-${index}`), '')
          expected.push(`${path}/file-${index}`)
        }
      }
      const entries = await collect(adapter.list(at('/'), { recursive: true }))
      expect(entries.map(({ path }) => path).toSorted()).toEqual(expected.toSorted())
      expect(entries.filter(({ type }) => type === 'directory')).toHaveLength(5)
      const detailed = await collect(adapter.list(at('/'), { recursive: true, details: true }))
      expect(detailed.map(({ path }) => path).toSorted()).toEqual(expected.toSorted())
      for (const left of [1, 5, 60, 400, expected.length - 1]) {
        let count = 0
        for await (const entry of adapter.list(at('/'), { recursive: true })) {
          expect(entry.path).toMatch(/^\//)
          if ((count += 1) === left) break
        }
        if (hasProc) expect(descriptorsIn(root)).toEqual([])
      }
      if (hasProc) expect(descriptorsIn(root)).toEqual([])
    })

    it('does not enter what is excluded, but lists it', async () => {
      const { adapter } = await openSite({ io })
      for (const path of ['/a/b/c', '/a/d', '/e/f']) await adapter.write(at(path), bytes('word'), { parents: true })
      const exclude = [at('/a/b'), at('/e')]
      const paths = (await collect(adapter.list(at('/'), { recursive: true, exclude }))).map(({ path }) => path)
      expect(paths.toSorted()).toEqual(['/a', '/a/b', '/a/d', '/e'])
      expect(await collect(adapter.list(at('/a/b'), { recursive: true, exclude }))).toEqual([])
    })

    it('reports names that are no UTF-8 as unreachable, and never takes them for others', async () => {
      const { adapter, root } = await openSite({ io })
      const odd = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x61, 0xff])])
      await writeFile(odd, 'invalid')
      await writeFile(join(root, 'real\uFFFD'), 'real')
      await mkdir(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xfe])]))
      await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xfe]), Buffer.from('/inside')]), 'word')
      const entries = await collect(adapter.list(at('/'), { recursive: true, details: true }))
      const shown = entries.map(({ name, unreachable, type }) => `${name} ${unreachable === true} ${type}`).toSorted()
      expect(shown).toEqual(['\\xfe true directory', 'a\\xff true file', 'real\uFFFD false file'])
      expect(await readText(adapter, '/real\uFFFD')).toBe('real')
      for (const path of ['/a\uFFFD', '/a\\xff', '/\uFFFD/inside']) {
        expect(await failureOf(adapter.read(at(path)))).toMatchObject({ code: 'ENOENT' })
      }
      expect((await adapter.copy(at('/real\uFFFD'), at('/copy\uFFFD'))).version).toBeTypeOf('string')
    })
  })
}

describe('the event loop', () => {
  it('gets its turn while thousands of small operations run at once', async () => {
    const { adapter, root } = await openSite()
    await writeFile(join(root, 'f'), 'x')
    let turns = 0
    let counting = true
    const count = (): void => {
      turns += 1
      if (counting) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(Array.from({ length: 5_000 }, () => adapter.read(at('/f'))))
    const together = turns
    for (let index = 0; index < 3_000; index += 1) await adapter.stat(at('/f'))
    counting = false
    expect(together).toBeGreaterThan(5)
    expect(turns - together).toBeGreaterThan(5)
  })
})

describe('realpath', () => {
  it('[PM2] resolves the deepest part that exists', async () => {
    const { path } = await scratch()
    await mkdir(join(path, 'a'))
    expect(realpath(join(path, 'a/b/c'))).toBe(join(path, 'a/b/c'))
    expect(realpath(join(path, 'a/../missing'))).toBe(join(path, 'missing'))
    expect(realpath('/')).toBe('/')
  })
})
