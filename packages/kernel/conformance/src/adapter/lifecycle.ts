import { check, equal, rejection, rejects } from '../assert.ts'
import { at, encode, offered } from './case.ts'
import { operations, operationsOf } from './operations.ts'
import type { Suite } from './suite.ts'

export function lifecycleTests({ describe, test, change }: Suite): void {
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
      const begun = it.adapter.beginCommand?.()
      if (begun !== undefined) await rejects(begun, 'ECLOSED', { what: 'beginCommand' })
      const scratch = it.adapter.createScratch?.()
      if (scratch !== undefined) await rejects(scratch, 'ECLOSED', { what: 'createScratch' })
      const forked = it.adapter.createFork?.()
      if (forked !== undefined) await rejects(forked, 'ECLOSED', { what: 'createFork' })
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

  describe('the root', () => {
    test('that is gone is ENOWORKSPACE', {}, async (it) => {
      const { removeRoot } = it.fixture
      if (removeRoot === undefined) return it.skip('the fixture has no removeRoot')
      await it.put('/dir/file', 'x')
      await removeRoot()
      for (const { name, changes, run } of operationsOf(it.adapter)) {
        if (changes) continue // a change in a subtree adapter creates a missing root
        for (const path of ['/dir/file', '/dir']) {
          await rejects(run(it.adapter, at(path)) ?? Promise.resolve(), 'ENOWORKSPACE', { what: `${name} ${path}` })
        }
      }
      await rejects(it.adapter.stat(at('/')), 'ENOWORKSPACE')
      await rejects(it.adapter.list(at('/')).next(), 'ENOWORKSPACE')
    })
  })

  describe('flush', () => {
    change('resolves when everything before is in the store', { flush: true }, async (it) => {
      const flush = offered(it.adapter.flush, 'flush').bind(it.adapter)
      await flush()
      await it.adapter.write(at('/a'), encode('x'))
      await flush()
      await flush({ signal: new AbortController().signal })
      equal(await it.text('/a'), 'x')
      const reason = new Error('no longer wanted')
      const failed = await rejection(flush({ signal: AbortSignal.abort(reason) }))
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
    })
  })

  describe('sync', () => {
    test('resolves when everything before survives a power cut, or says that it cannot', {}, async (it) => {
      if (it.adapter.sync === undefined) return it.skip('the adapter has no sync')
      if (!it.adapter.capabilities.readOnly) {
        await it.adapter.write(at('/deep/a'), encode('x'), { durable: true, parents: true })
        equal(await it.text('/deep/a'), 'x')
      }
      await it.adapter.sync()
      const reason = new Error('no longer wanted')
      const failed = await rejection(it.adapter.sync({ signal: AbortSignal.abort(reason) }))
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
    })
  })

  describe('beginCommand', () => {
    test('gives an end that resolves, also when it is called again', {}, async (it) => {
      if (it.adapter.beginCommand === undefined) return it.skip('the adapter has no beginCommand')
      const end = await it.adapter.beginCommand()
      const other = await it.adapter.beginCommand({ background: true, signal: new AbortController().signal })
      await it.put('/file', 'x')
      await Promise.all([end(), other()])
      equal([await end(), await other()], [undefined, undefined])
      equal(await it.text('/file'), 'x')
      const reason = new Error('no longer wanted')
      const failed = await rejection(it.adapter.beginCommand({ signal: AbortSignal.abort(reason) }))
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
    })
  })

  describe('createScratch', () => {
    test('[RP20] makes an empty adapter that is nobody else’s', {}, async (it) => {
      const first = await it.adapter.createScratch?.()
      const second = await it.adapter.createScratch?.()
      if (first === undefined || second === undefined) return it.skip('the adapter has no createScratch')
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
