import { isWorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { setTimeout as delay } from 'node:timers/promises'
import { at, encode } from '../adapter/case.ts'
import { check, equal } from '../assert.ts'
import { checkSuite } from '../options/check.ts'
import type { Runner } from '../runner.ts'
import type { CoherenceSuiteOptions, CoherentSide } from '../options/coherence.ts'

/** Additional milliseconds for a change to become visible, since a read of the store takes time. */
const slackMs = 1_000

/** Tests two adapters on the same store: a flushed write of one is visible to the other after a refresh, or within `maxStaleness`. */
export function testCoherence(options: CoherenceSuiteOptions, runner: Runner): void {
  checkSuite('testCoherence', 'coherence', options)
  const test = (title: string, run: (writer: CoherentSide, reader: CoherentSide) => Promise<void>): void => {
    for (const way of ['one to the other', 'the other to one'] as const) {
      runner.it(`${title}, from ${way}`, async () => {
        const { one, other, dispose } = await options.create()
        try {
          await (way === 'one to the other' ? run(one, other) : run(other, one))
        } finally {
          await one.adapter.close()
          await other.adapter.close()
          await dispose?.()
        }
      })
    }
  }

  runner.describe(`coherence: ${options.name}`, () => {
    test('after flush and refresh both agree byte for byte', async (writer, reader) => {
      await seed(writer.adapter)
      await handOver(writer, reader)
      await assertSame(writer, reader, 'what was made')

      await writer.adapter.write(at('/same-size'), encode('after!'))
      await writer.adapter.write(at('/shorter'), encode('x'))
      await writer.adapter.delete(at('/dir/deleted'))
      await writer.adapter.move(at('/dir/moved'), at('/dir/elsewhere'))
      await writer.adapter.write(at('/new/deep/file'), bytesOf(70_000), { parents: true })
      await handOver(writer, reader)
      const changed = await assertSame(writer, reader, 'what was changed')
      equal([...changed.keys()], [...files.keys()].toSorted(), 'the files')
      equal(changed.get('/same-size'), encode('after!'), 'a change of the same size')
    })

    test('a change is seen within the declared staleness, without a refresh', async (writer, reader) => {
      await seed(writer.adapter)
      await handOver(writer, reader)
      await assertSame(writer, reader, 'the beginning')

      const expected = new Map([
        ['/same-size', encode('later!')],
        ['/fresh', encode('fresh')],
      ])
      for (const [path, content] of expected) await writer.adapter.write(at(path), content)
      await writer.adapter.delete(at('/dir/deleted'))
      await writer.adapter.flush?.()
      const deadline = performance.now() + reader.adapter.capabilities.maxStaleness + slackMs
      for (;;) {
        const begun = performance.now()
        const found = await contents(reader.adapter)
        const isCurrent = ![...expected].some(([path, content]) => !isSame(found.get(path), content))
        if (isCurrent && !found.has('/dir/deleted')) return
        check(begun < deadline, `after ${reader.adapter.capabilities.maxStaleness} ms the old state is still seen`)
        await delay(50)
      }
    })

    test('each sees the last of many turns', async (writer, reader) => {
      for (let round = 0; round < 3; round += 1) {
        for (const [from, to] of [
          [writer, reader],
          [reader, writer],
        ] as const) {
          const text = `${round} by ${from === writer ? 'the first' : 'the other'}`
          await from.adapter.write(at('/turns'), encode(text))
          await handOver(from, to)
          equal((await to.adapter.read(at('/turns'))).bytes, encode(text), 'the content')
        }
      }
    })
  })
}

async function handOver(writer: CoherentSide, reader: CoherentSide): Promise<void> {
  await writer.adapter.flush?.()
  await reader.refresh?.()
}

async function assertSame(writer: CoherentSide, reader: CoherentSide, what: string) {
  const found = await contents(reader.adapter)
  equal(Object.fromEntries(found), Object.fromEntries(await contents(writer.adapter)), what)
  return found
}

const files = new Map([
  ['/same-size', 'before'],
  ['/shorter', 'longer than it will be'],
  ['/empty', ''],
  ['/dir/elsewhere', ''],
  ['/dir/ünïcode “x”', 'a name that is not ASCII'],
  ['/new/deep/file', ''],
])

async function seed(adapter: StorageAdapter): Promise<void> {
  for (const [path, content] of files) {
    if (path === '/dir/elsewhere' || path.startsWith('/new/')) continue
    await adapter.write(at(path), encode(content), { parents: true })
  }
  await adapter.write(at('/dir/deleted'), encode('to be deleted'), { parents: true })
  await adapter.write(at('/dir/moved'), bytesOf(5_000), { parents: true })
}

function bytesOf(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31) % 256)
}

async function contents(adapter: StorageAdapter): Promise<Map<string, Uint8Array>> {
  const paths: string[] = []
  for await (const { path, type } of adapter.list(at('/'), { recursive: true })) if (type === 'file') paths.push(path)
  const found = new Map<string, Uint8Array>()
  for (const path of paths.toSorted()) {
    const read = await adapter.read(at(path)).catch((error: unknown) => {
      if (isWorkspaceError(error, 'ENOENT')) return undefined // the file was removed before this read
      throw error
    })
    if (read !== undefined) found.set(path, read.bytes)
  }
  return found
}

function isSame(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && one.length === other.length && one.every((byte, index) => byte === other[index])
}
