import { check, equal, rejects } from '../assert.ts'
import { at, body, encode } from './case.ts'
import type { Suite } from './suite.ts'

export function specialFileTests({ describe, test, change }: Suite): void {
  describe('FIFOs', () => {
    test('are listed as other, and never opened', {}, async (it) => {
      const { makeFifo } = it.fixture
      if (makeFifo === undefined) return it.skip('the fixture has no makeFifo')
      await makeFifo(at('/fifo'))
      const { type, size } = await it.adapter.stat(at('/fifo'))
      equal({ type, size }, { type: 'other', size: 0 })
      equal(
        (await it.entries('/')).map((entry) => entry.type),
        ['other'],
      )
      await rejects(it.adapter.read(at('/fifo')), 'EINVAL', { path: '/fifo' })
      await rejects(it.adapter.readStream(at('/fifo')), 'EINVAL', { path: '/fifo' })
      await rejects(it.adapter.list(at('/fifo')).next(), 'ENOTDIR', { path: '/fifo' })
      const hits = it.adapter.search?.({ pattern: 'x', in: at('/') })
      if (hits !== undefined) equal(await Array.fromAsync(hits), [])
    })

    change('are not written to, and can be deleted', {}, async (it) => {
      const { makeFifo } = it.fixture
      if (makeFifo === undefined) return it.skip('the fixture has no makeFifo')
      await makeFifo(at('/fifo'))
      const data = body('x')
      await rejects(it.adapter.write(at('/fifo'), data), 'EINVAL', { path: '/fifo' })
      check(!data.touched, 'the body was read')
      if (it.adapter.append !== undefined) {
        await rejects(it.adapter.append(at('/fifo'), encode('x')), 'EINVAL', { path: '/fifo' })
      }
      await it.put('/file', 'x')
      await it.put('/tree/fifo', 'x')
      const overwrite = { overwrite: true, recursive: true }
      await rejects(it.adapter.copy(at('/file'), at('/fifo'), overwrite), 'EINVAL', { path: '/fifo' })
      await it.adapter.createDirectory(at('/into'))
      await makeFifo(at('/into/fifo'))
      await rejects(it.adapter.copy(at('/tree'), at('/into'), overwrite), 'EINVAL', { path: '/into/fifo' })
      equal((await it.adapter.stat(at('/into/fifo'))).type, 'other')
      for (const path of ['/file', '/tree', '/into']) await it.adapter.delete(at(path), { recursive: true })
      equal((await it.adapter.stat(at('/fifo'))).type, 'other')
      await it.adapter.delete(at('/fifo'))
      equal(await it.paths('/'), [])
    })
  })

  describe('names that no path can hold', () => {
    test('are listed as unreachable, shown for people, and in nobody’s way', {}, async (it) => {
      const { makeUnreachable } = it.fixture
      if (makeUnreachable === undefined) return it.skip('the fixture has no makeUnreachable')
      await it.put('/file', 'needle')
      await makeUnreachable()
      const found = await it.entries('/', { recursive: true, details: true })
      equal(
        found
          .map(({ name, unreachable }) => [name, unreachable])
          .toSorted((a, b) => String(a).localeCompare(String(b))),
        [
          ['\\xff', true],
          ['file', undefined],
        ],
      )
      const hits = it.adapter.search?.({ pattern: 'needle', in: at('/') })
      if (hits !== undefined)
        equal(
          (await Array.fromAsync(hits)).map(({ path }) => path),
          ['/file'],
        )
      for (const path of ['/\\xff', '/\ufffd', '/ÿ']) await rejects(it.adapter.stat(at(path)), 'ENOENT', { path })
    })
  })
}
