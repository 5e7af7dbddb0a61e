import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, observe, paths, rules } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hear } from './heard.ts'

const bytes = new TextEncoder().encode('1')
const at = (path: string) => paths.parseMount(path)

/** A watched workspace on a changed view of a store that others write to. */
async function open(change: (plain: StorageAdapter) => Partial<StorageAdapter>) {
  const store = createMemoryAdapter({ files: { '/dir/a': '1', '/dir/b.key': '1' } })
  const plain = observe(store, () => undefined)
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: { ...plain, ...change(plain) } }],
    rules: [rules.denyGlob('*.key')],
    executors: [createVirtualExecutor()],
  })
  onTestFinished(() => workspace.close())
  return { store, workspace, ...hear(await workspace.watch('/', { interval: 2 ** 31 - 1 })) }
}

const withoutHints = ({ capabilities }: StorageAdapter) => ({
  watch: undefined,
  capabilities: { ...capabilities, watch: false },
})

describe('[EF4] a watch of a store', () => {
  it('without hints shows a denied change nowhere, also not by its directory', async () => {
    const { store, workspace, heard } = await open(withoutHints as never)
    await store.write(at('/dir/b.key'), bytes)
    await store.write(at('/dir/new.key'), bytes)
    await workspace.exec('true')
    expect(await heard()).toEqual([])
    await store.chmod?.(at('/dir'), 0o700)
    await workspace.exec('true')
    expect(await heard()).toEqual(['changed /dir'])
  })

  it('that loses its hints tells the changes after a listing', async () => {
    const { store, workspace, heard } = await open(() => ({
      watch: async () => ({ take: async () => undefined, close: () => undefined }),
    }))
    await store.write(at('/dir/new'), bytes)
    await workspace.exec('true')
    expect(await heard()).toEqual(['created /dir/new'])
  })

  it('whose hints fail tells the changes after a listing', async () => {
    const take = () => Promise.reject(new Error('the store is away'))
    const { store, workspace, heard } = await open(() => ({ watch: async () => ({ take, close: () => undefined }) }))
    await store.write(at('/dir/new'), bytes)
    await workspace.exec('true')
    expect(await heard()).toEqual(['created /dir/new'])
  })

  it('that fails to be listed overflows once, and tells the changes when it works again', async () => {
    let fails = false
    const { store, workspace, heard } = await open((plain) => ({
      ...(withoutHints(plain) as object),
      stat: (path, options) => (fails ? Promise.reject(new Error('away')) : plain.stat(path, options)),
    }))
    fails = true
    await store.write(at('/dir/new'), bytes)
    for (const path of ['/x', '/y']) await workspace.write(path, '1')
    expect(await heard()).toEqual(['overflow /'])
    fails = false
    await workspace.write('/z', '1')
    expect((await heard()).toSorted()).toEqual(['created /dir/new', 'created /x', 'created /y', 'created /z'])
  })
})
