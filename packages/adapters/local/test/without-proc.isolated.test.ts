import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it, vi } from 'vitest'

import { createLocalAdapter } from '../src/index.ts'
import { type Local, at, bytes, collect, failureOf, names, readText, scratch } from './support.ts'

vi.mock('../src/confine/handle.ts', async (original) => ({
  ...(await original<typeof import('../src/confine/handle.ts')>()),
  hasProc: () => false,
}))

describe('without /proc', () => {
  it('works with checks before use, and says so', async () => {
    const { path: root } = await scratch()
    const { path: outside } = await scratch()
    const adapter = (await createLocalAdapter({ root })) as Local
    try {
      expect(adapter.capabilities.confinement).toBe('checked')
      await adapter.write(at('/a/b/f'), bytes('one'), { parents: true })
      await adapter.write(at('/a/b/f'), bytes('two'))
      await adapter.append(at('/a/b/f'), bytes('three'))
      expect(await readText(adapter, '/a/b/f')).toBe('twothree')
      await adapter.write(at('/once'), bytes('x'), { ifVersion: 'absent' })
      await adapter.copy(at('/a'), at('/c'), { recursive: true })
      await adapter.move(at('/c/b/f'), at('/moved'))
      await mkdir(join(outside, 'sub'))
      await writeFile(join(outside, 'secret'), 'SECRET')
      await symlink(outside, join(root, 'link'))
      for (const call of [
        () => adapter.read(at('/link/secret')),
        () => adapter.write(at('/link/new'), bytes('x')),
        () => collect(adapter.list(at('/link'))),
        () => adapter.delete(at('/link/sub'), { recursive: true }),
      ]) {
        expect(await failureOf(call())).toMatchObject({ name: 'LinkSignal' })
      }
      expect(await collect(adapter.search({ pattern: 'two', in: at('/') }))).toHaveLength(2)
      await adapter.delete(at('/a'), { recursive: true })
      expect(await names(adapter)).toEqual(['c', 'link', 'moved', 'once'])
    } finally {
      await adapter.close()
    }
  })
})
