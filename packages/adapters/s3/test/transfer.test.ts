import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { TransferProgress } from '../src/reports.ts'
import { at, Bench, encode, failureOf, fill, listed, tagsOn, text } from './support.ts'

/** An error that no retry mends. */
const refusal = (): Error =>
  Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 }, secret: 'bucket/key' })

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `moves, copies and deletes on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    beforeEach(() => {
      bench.interceptor = (_, send) => send()
    })
    afterAll(() => bench.close())

    it('tell their progress, object by object, and keep to their limit', async () => {
      const events: TransferProgress[] = []
      const adapter = await bench.adapter({ concurrency: 4, onProgress: (event) => events.push(event) })
      await fill(20, (index) => adapter.write(at(`/a/${index % 3}/${index}`), encode(`${index}`)))
      await adapter.createDirectory(at('/a/empty'))
      let [running, most] = [0, 0]
      bench.interceptor = async ({ name: sent }, send) => {
        if (sent !== 'CopyObject') return send()
        running += 1
        most = Math.max(most, running)
        return send().finally(() => {
          running -= 1
        })
      }
      await adapter.move(at('/a'), at('/b'))
      expect(most).toBeGreaterThan(1)
      expect(most).toBeLessThanOrEqual(4)
      expect(events.map(({ operation, done }) => `${operation} ${done}`)).toEqual(
        Array.from({ length: 21 }, (_, index) => `move ${index + 1}`),
      )
      expect((await listed(adapter)).length).toBe(25)
      expect(await text(adapter, '/b/1/4')).toBe('4')
      await adapter.delete(at('/b'), { recursive: true })
      expect(events.at(-1)).toMatchObject({ operation: 'delete', done: 21 })
    })

    it('say exactly what was done when a copy fails half-way, and the source is whole', async () => {
      const adapter = await bench.adapter({ concurrency: 1 })
      await fill(10, (index) => adapter.write(at(`/a/${index}`), encode(`${index}`)))
      const before = (await listed(adapter)).length
      bench.interceptor = ({ name: sent, key = '' }, send) =>
        sent === 'CopyObject' && key.endsWith('/b/5') ? Promise.reject(refusal()) : send()
      const error = await failureOf(adapter.move(at('/a'), at('/b')))
      expect(error).toMatchObject({ code: 'EBACKEND', operation: 'move' })
      expect(error.partial).toMatchObject({ completedCount: 5, failedAt: '/b/5' })
      const completed = [0, 1, 2, 3, 4].map((index) => `/b/${index}`)
      expect(error.partial?.completed).toEqual(completed)
      expect(error.partial?.state).toContain('the source is unchanged')
      expect(await listed(adapter, '/b')).toEqual(completed.map((path) => `file ${path}`))
      expect((await listed(adapter)).length).toBe(before + 6)
      expect(JSON.stringify(error)).not.toContain('bucket/key')
    })

    it('say exactly what was done when a delete fails half-way, and go on when asked again', async () => {
      const adapter = await bench.adapter()
      await fill(5, (index) => adapter.write(at(`/a/${index}`), encode('x')))
      bench.interceptor = ({ name: sent }, send) =>
        sent === 'DeleteObjects'
          ? Promise.resolve({ output: { Deleted: [], Errors: [{ Key: 'x', Code: 'AccessDenied' }] } })
          : send()
      const error = await failureOf(adapter.delete(at('/a'), { recursive: true }))
      expect(error).toMatchObject({ code: 'EBACKEND', operation: 'delete', partial: { completedCount: 0 } })
      bench.interceptor = (_, send) => send()
      expect((await listed(adapter)).length).toBe(6)
      await adapter.delete(at('/a'), { recursive: true })
      expect(await listed(adapter)).toEqual([])
    })

    it('delete again what a batch could not delete for a reason that passes', async () => {
      const adapter = await bench.adapter()
      await fill(5, (index) => adapter.write(at(`/a/${index}`), encode('x')))
      let batches = 0
      bench.interceptor = ({ name: sent }, send) => {
        if (sent !== 'DeleteObjects') return send()
        batches += 1
        if (batches > 2) return send()
        // an answer that was emptied on its way, then one of an overloaded server
        const Errors = batches === 1 ? [] : [{ Key: 'x', Code: 'SlowDown' }]
        return Promise.resolve({ output: { Deleted: [], Errors } })
      }
      await adapter.delete(at('/a'), { recursive: true })
      expect(batches).toBe(3)
      expect(await listed(adapter)).toEqual([])
    })

    it('leave a source that was changed while it was moved', async () => {
      const prefix = bench.prefix()
      const moved = await bench.adapter({ prefix })
      await moved.write(at('/a'), encode('old'))
      bench.interceptor = async ({ name: sent, key = '' }, send) => {
        const done = await send()
        // right after the copy: another client, which no lock of this process holds up
        if ((sent === 'CopyObject' || sent === 'PutObject') && key.endsWith('/b')) await bench.put(`${prefix}/a`, 'new')
        return done
      }
      const error = await failureOf(moved.move(at('/a'), at('/b')))
      expect(error).toMatchObject({ code: 'ECONFLICT', path: '/a', partial: { completed: ['/b'] } })
      expect(await text(moved, '/a')).toBe('new')
      expect(await text(moved, '/b')).toBe('old')

      bench.interceptor = (_, send) => send()
      const treePrefix = bench.prefix()
      const tree = await bench.adapter({ prefix: treePrefix })
      await fill(3, (index) => tree.write(at(`/a/${index}`), encode('old')))
      bench.interceptor = async ({ name: sent, key = '' }, send) => {
        const done = await send()
        if (sent === 'CopyObject' && key.endsWith('/b/1')) await bench.put(`${treePrefix}/a/1`, 'new')
        return done
      }
      const halted = await failureOf(tree.move(at('/a'), at('/b')))
      expect(halted).toMatchObject({ code: 'ECONFLICT', partial: { failedAt: '/a/1', completedCount: 2 } })
      expect(await listed(tree, '/a')).toEqual(['file /a/1'])
      expect(await text(tree, '/a/1')).toBe('new')
    })

    it('of 20 copies to one place that is free exactly one wins, though none may replace', async () => {
      const adapter = await bench.adapter()
      await fill(20, (index) => adapter.write(at(`/from/${index}`), encode(`${index}`)))
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => adapter.copy(at(`/from/${index}`), at('/to'))),
      )
      const won = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []))
      expect(won.length).toBe(1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'EEXIST', path: '/to' })
      }
      expect(await text(adapter, '/to')).toBe(`${won[0]}`)
    })

    it('of 10 deletes with the version of a file that others write exactly one at most wins, and loses nothing', async () => {
      const adapter = await bench.adapter()
      for (let round = 0; round < 3; round += 1) {
        const { version: ifVersion } = await adapter.write(at('/a'), encode(`old ${round}`))
        const write = adapter.write(at('/a'), encode(`new ${round}`))
        const deletes = Array.from({ length: 10 }, () => adapter.delete(at('/a'), { ifVersion }))
        const outcomes = await Promise.allSettled(deletes)
        await write
        expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
        expect(await text(adapter, '/a')).toBe(`new ${round}`)
      }
    })

    it('merge only when nothing would hide', async () => {
      const adapter = await bench.adapter()
      for (const path of ['/s/a', '/s/x/y', '/d1/a/b', '/d2/x']) await adapter.write(at(path), encode(path))
      const before = await listed(adapter)
      const merge = { overwrite: true, recursive: true }
      await expect(adapter.copy(at('/s'), at('/d1'), merge)).rejects.toMatchObject({ code: 'EISDIR', path: '/d1/a' })
      await expect(adapter.copy(at('/s'), at('/d2'), merge)).rejects.toMatchObject({ code: 'ENOTDIR', path: '/d2/x' })
      expect(await listed(adapter)).toEqual(before)
    })

    it('copy a directory over the one it lies in as it was at the start', async () => {
      const adapter = await bench.adapter()
      for (const path of ['/a/b/x', '/a/b/b/x']) await adapter.write(at(path), encode(path))
      await adapter.copy(at('/a/b'), at('/a'), { overwrite: true, recursive: true })
      expect(await listed(adapter)).toEqual([
        'directory /a',
        'directory /a/b',
        'directory /a/b/b',
        'file /a/b/b/x',
        'file /a/b/x',
        'file /a/x',
      ])
      expect(await text(adapter, '/a/x')).toBe('/a/b/x')
      expect(await text(adapter, '/a/b/x')).toBe('/a/b/b/x')
    })
  })
}
