import { check, equal, rejection } from '../assert.ts'
import { at, body, pattern } from './case.ts'
import { needsOf, operations } from './operations.ts'
import type { Suite } from './suite.ts'

export function abortTests({ describe, test, change }: Suite): void {
  const reason = new Error('no longer wanted')

  describe('abort', () => {
    for (const operation of operations) {
      const { name } = operation
      test(
        `${name}: a signal that is aborted already rejects with its reason, before any effect`,
        needsOf(operation),
        async (it) => {
          await it.put('/source')
          await it.put('/file', 'x')
          if (it.capabilities.symlinks) await it.link('/link', 'file')
          const before = await it.tree()
          const path = at(pathFor(name))
          const failed = await rejection(
            operation.run(it.adapter, path, { signal: AbortSignal.abort(reason) }) ?? Promise.resolve(),
            name,
          )
          check(failed === reason, `${name} should have rejected with signal.reason, not with ${String(failed)}`)
          equal(await it.tree(), before, 'the tree')
        },
      )
    }

    change('leaves the old content when a write is aborted', {}, async (it) => {
      await it.put('/a', 'old')
      const controller = new AbortController()
      async function* aborting(): AsyncGenerator<Uint8Array> {
        yield pattern(200_000)
        controller.abort(reason)
        yield pattern(200_000)
      }
      const failed = await rejection(it.adapter.write(at('/a'), aborting(), { signal: controller.signal }))
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
      equal(await it.tree(), ['file /a old'])
    })

    change('does not wait for a body that hangs', {}, async (it) => {
      const controller = new AbortController()
      async function* hanging(): AsyncGenerator<Uint8Array> {
        yield pattern(10)
        setImmediate(() => controller.abort(reason))
        await new Promise(() => undefined)
      }
      const failed = await rejection(it.adapter.write(at('/a'), hanging(), { signal: controller.signal }))
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
      equal(await it.tree(), [])
    })

    change('touches no body when the signal is aborted already', {}, async (it) => {
      const data = body('x')
      await rejection(it.adapter.write(at('/a'), data, { signal: AbortSignal.abort(reason) }))
      check(!data.touched, 'the body was read')
    })

    test('ends a stream with the reason', {}, async (it) => {
      await it.put('/a', pattern(4_000_000))
      const controller = new AbortController()
      const { stream } = await it.adapter.readStream(at('/a'), { signal: controller.signal })
      await stream.next()
      controller.abort(reason)
      const rest = (async () => {
        // bytes that were read before the abort may still arrive
        for await (const chunk of stream) void chunk
      })()
      const failed = await rejection(rest, 'the stream')
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
    })

    test('ends a listing with the reason', {}, async (it) => {
      for (let index = 0; index < 50; index += 1) await it.put(`/${index}`, '')
      const controller = new AbortController()
      const listing = it.adapter.list(at('/'), { signal: controller.signal })
      await listing.next()
      controller.abort(reason)
      const failed = await rejection(Array.fromAsync(listing), 'the listing')
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
    })

    test('lets a listing be left', {}, async (it) => {
      await it.put('/file', '')
      const controller = new AbortController()
      const listing = it.adapter.list(at('/'), { signal: controller.signal })
      await listing.next()
      controller.abort(reason)
      equal((await listing.return?.())?.done, true, 'done')
    })
  })
}

function pathFor(operation: string): string {
  if (operation === 'list') return '/'
  if (operation === 'readSymlink') return '/link'
  return operation.endsWith(' to') || operation.startsWith('create') ? '/new' : '/file'
}
