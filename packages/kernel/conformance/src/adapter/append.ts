import { equal, rejects } from '../assert.ts'
import { at, encode, offered, pattern } from './case.ts'
import type { Suite } from './suite.ts'

export function appendTests({ describe, change }: Suite): void {
  const needs = { append: true }
  const appendOf = (adapter: Parameters<Parameters<Suite['change']>[2]>[0]['adapter']) =>
    offered(adapter.append, 'append').bind(adapter)

  describe('append', () => {
    change('adds at the end, and makes a file that is missing', needs, async (it) => {
      const append = appendOf(it.adapter)
      for (const [text, size] of [
        ['one', 3],
        ['', 3],
        ['two', 6],
      ] as const) {
        const result = await append(at('/a'), encode(text))
        equal(result.size, size, 'the size')
        equal(result.version, await it.version('/a'), 'the version')
      }
      equal(await it.text('/a'), 'onetwo')
    })

    change('keeps what is there, also after a write and of some size', needs, async (it) => {
      await it.put('/a', pattern(200_000))
      await appendOf(it.adapter)(at('/a'), pattern(100_000, 5))
      const { bytes } = await it.adapter.read(at('/a'))
      equal(bytes.subarray(0, 200_000), pattern(200_000))
      equal(bytes.subarray(200_000), pattern(100_000, 5))
    })

    change('to a directory is EISDIR', needs, async (it) => {
      await it.put('/dir/a')
      await rejects(appendOf(it.adapter)(at('/dir'), encode('x')), 'EISDIR', { path: '/dir' })
      await rejects(appendOf(it.adapter)(at('/'), encode('x')), 'EBUSY', { path: '/' })
    })

    change('needs the parent, or makes it', { ...needs, enforcesHierarchy: true }, async (it) => {
      await rejects(appendOf(it.adapter)(at('/x/a'), encode('x')), 'ENOENT', { path: '/x/a' })
      await appendOf(it.adapter)(at('/x/a'), encode('x'), { parents: true })
      equal(await it.tree(), ['directory /x ', 'file /x/a x'])
      await rejects(appendOf(it.adapter)(at('/x/a/b'), encode('x'), { parents: true }), 'ENOTDIR', { path: '/x/a/b' })
    })

    change('refuses content of another type', needs, async (it) => {
      for (const data of ['text', undefined, null]) {
        await rejects(appendOf(it.adapter)(at('/a'), data as unknown as Uint8Array), 'EINVAL', { what: String(data) })
      }
      equal(await it.tree(), [])
    })

    change('takes conditions', { ...needs, conditionalWrite: ['server', 'process'] }, async (it) => {
      const append = appendOf(it.adapter)
      const { version } = await append(at('/a'), encode('1'), { ifVersion: 'absent' })
      await rejects(append(at('/a'), encode('x'), { ifVersion: 'absent' }), 'ECONFLICT', { path: '/a' })
      await append(at('/a'), encode('2'), { ifVersion: version })
      await rejects(append(at('/a'), encode('x'), { ifVersion: version }), 'ECONFLICT', { path: '/a' })
      await rejects(append(at('/none'), encode('x'), { ifVersion: version }), 'ECONFLICT', { path: '/none' })
      equal(await it.tree(), ['file /a 12'])
    })
  })
}
