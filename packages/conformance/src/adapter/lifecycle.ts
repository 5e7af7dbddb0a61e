import { check, equal, rejects } from '../assert.ts'
import { at, encode } from './case.ts'
import { operations } from './operations.ts'
import type { Suite } from './suite.ts'

export function lifecycleTests({ describe, test }: Suite): void {
  describe('close', () => {
    test('makes every later call ECLOSED', {}, async (it) => {
      await it.put('/file', 'x')
      await it.put('/source')
      await it.adapter.close()
      for (const { name, run } of operations) {
        const promise = run(it.adapter, at('/file'))
        if (promise !== undefined) await rejects(promise, 'ECLOSED', { what: name })
      }
      const flushed = it.adapter.flush?.()
      if (flushed !== undefined) await rejects(flushed, 'ECLOSED', { what: 'flush' })
      const scratch = it.adapter.createScratch?.()
      if (scratch !== undefined) await rejects(scratch, 'ECLOSED', { what: 'createScratch' })
    })

    test('can be called twice, and by disposal', {}, async (it) => {
      await it.adapter.close()
      await it.adapter.close()
      await it.adapter[Symbol.asyncDispose]()
      await rejects(it.adapter.stat(at('/')), 'ECLOSED')
    })

    test('happens at the end of a scope', {}, async (it) => {
      {
        await using adapter = it.adapter
        equal((await adapter.stat(at('/'))).type, 'directory')
      }
      await rejects(it.adapter.stat(at('/')), 'ECLOSED')
    })
  })

  describe('createScratch', () => {
    test('[RP20] makes an empty adapter that is nobody else’s', {}, async (it) => {
      const first = await it.adapter.createScratch?.()
      const second = await it.adapter.createScratch?.()
      if (first === undefined || second === undefined) return
      await it.put('/file')
      try {
        check(!first.capabilities.readOnly, 'it cannot be written')
        equal(await Array.fromAsync(first.list(at('/'))), [])
        await first.write(at('/a'), encode('x'))
        await rejects(second.read(at('/a')), 'ENOENT')
        equal(await it.paths('/'), ['/file'])
        await first.close()
        await rejects(first.stat(at('/')), 'ECLOSED')
        await second.write(at('/b'), encode('y'))
        equal(await it.paths('/'), ['/file'])
      } finally {
        await first.close()
        await second.close()
      }
    })
  })
}
