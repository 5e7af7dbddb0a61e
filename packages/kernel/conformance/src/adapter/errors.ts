import { isWorkspaceError } from '@ws/core'
import { check, equal, rejection } from '../assert.ts'
import { at } from './case.ts'
import { needsOf, operations, operationsOf } from './operations.ts'
import type { Suite } from './suite.ts'

export function errorTests({ describe, test, change }: Suite): void {
  describe('errors', () => {
    test('[PC10] name the operation and the path inside the mount, and nothing of the store behind', {}, async (it) => {
      await it.put('/file', 'x')
      for (const { name, run } of operationsOf(it.adapter)) {
        for (const path of ['/missing/entry', '/file/below']) {
          await it.put('/source')
          // in a store without hierarchy, an earlier operation may have created the destination
          await it.seed.delete(at('/destination'), { force: true, recursive: true })
          let error: unknown
          try {
            await run(it.adapter, at(path))
            continue // some operations accept a missing path
          } catch (thrown) {
            error = thrown
          }
          check(isWorkspaceError(error), `${name} ${path} failed with ${String(error)}, which is not a WorkspaceError`)
          equal(error.path, path, `${name}: the path of the error`)
          check(error.operation !== '' && error.reason !== '', `${name}: operation or reason is empty`)
          for (const secret of it.fixture.secrets ?? []) {
            check(!JSON.stringify(error).includes(secret), `${name}: the message tells ${secret}: ${error.message}`)
            check(!String(error.stack).split('\n')[0]?.includes(secret), `${name}: the stack tells ${secret}`)
          }
          check(error.cause === undefined, `${name}: the error has a cause, which is printed with it`)
        }
      }
    })

    for (const operation of operations) {
      const { name } = operation
      test(`${name}: an invalid path is refused, before any effect`, needsOf(operation), async (it) => {
        await it.put('/source')
        await it.put('/dir/file')
        const before = await it.tree()
        const codes = ['EINVAL', 'EOUTSIDE']
        for (const path of [
          '',
          'dir',
          'dir/file',
          '/dir/',
          '//dir',
          '/dir/./file',
          '/dir/../dir',
          '/../x',
          '/a\0b',
          '/a\ud800',
          5,
        ]) {
          const failed = await rejection(
            (async () => operation.run(it.adapter, path as ReturnType<typeof at>))(),
            `${name} ${JSON.stringify(path)}`,
          )
          check(
            isWorkspaceError(failed) && codes.includes(failed.code),
            `${name} ${JSON.stringify(path)} failed with ${String(failed)}`,
          )
        }
        equal(await it.tree(), before, 'the tree')
      })
    }

    test('every change of a read-only store is EROFS, also one that would change nothing', {
      readOnly: true,
    }, async (it) => {
      await it.put('/source')
      await it.put('/file', 'old')
      const before = await it.tree()
      for (const { name, changes, run } of operations) {
        if (!changes) continue
        for (const path of ['/file', '/none', '/none/deep', '/']) {
          const promise = run(it.adapter, at(path))
          if (promise === undefined) continue // the adapter has no such operation
          const failed = await rejection(promise, `${name} ${path}`)
          check(isWorkspaceError(failed, 'EROFS'), `${name} ${path} should be EROFS, not ${String(failed)}`)
        }
      }
      equal(await it.tree(), before, 'the tree')
    })

    change('the root cannot be written to: EBUSY', {}, async (it) => {
      await it.put('/file')
      for (const name of ['write', 'write with parents', 'delete', 'move to', 'copy to']) {
        await it.put('/source')
        const operation = operations.find((other) => other.name === name)
        const failed = await rejection(operation?.run(it.adapter, at('/')) ?? Promise.resolve(), name)
        check(isWorkspaceError(failed, 'EBUSY'), `${name} should be EBUSY, not ${String(failed)}`)
      }
      equal(await it.tree(), ['file /file content', 'file /source content'])
    })
  })
}
