import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, WorkspaceError } from '@ws/core'
import type { AdapterCapabilities, StorageAdapter } from '@ws/core/adapter'
import { guaranteeFields, type Executor, type Guarantees } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { expect, it } from 'vitest'
import { openMemory } from '../../src/index.ts'

const nothing = Object.fromEntries(guaranteeFields.map((field) => [field, 'none'])) as unknown as Guarantees

function absent(name: string, missing: readonly string[], howToFix: readonly string[]): Executor {
  return {
    name,
    kind: 'interpreter',
    probe: () => Promise.resolve({ available: false, guarantees: nothing, missing, howToFix, details: {} }),
    attach: () => Promise.reject(new Error('never asked')),
  }
}

it('says each reason once, with the executors that it stands against', async () => {
  const executors = [
    absent('first', ['bwrap is not installed', 'proot is not installed'], ['apt-get install bubblewrap proot']),
    absent('second', ['proot is not installed'], ['apt-get install proot']),
  ]
  await expect(openMemory({ '/': {} }, { executors })).rejects.toMatchObject({
    code: 'ENOEXECUTOR',
    message: expect.stringContaining(
      'no executor can be used (first: bwrap is not installed; first, second: proot is not installed)',
    ),
  })
})

it('[HO2] goes on to no other executor where one cannot be attached for want of something', async () => {
  const native = Object.assign(new Error('of the system'), { code: 'ENOSPC' })
  const attaching = { code: 'EUNENFORCEABLE', operation: 'attach', reason: 'no place', remedy: 'make room' } as const
  const short: Executor = {
    ...absent('short', [], []),
    probe: () => Promise.resolve({ available: true, guarantees: nothing, missing: [], howToFix: [], details: {} }),
    attach: () => Promise.reject(new WorkspaceError({ ...attaching, native })),
  }
  await expect(openMemory({ '/': {} }, { executors: [short, createVirtualExecutor()] })).rejects.toMatchObject({
    code: 'ENOEXECUTOR',
    reason: 'executor `short` could not be attached: no space is left on the disk',
    remedy: 'free some space',
  })
})

/** Storage with other capabilities, and without some of its operations. */
function changed(capabilities: Partial<AdapterCapabilities>, hidden: readonly PropertyKey[] = []): StorageAdapter {
  const memory = createMemoryAdapter()
  return new Proxy(memory, {
    get(target, key) {
      if (key === 'capabilities') return { ...target.capabilities, ...capabilities }
      const value: unknown = hidden.includes(key) ? undefined : Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

it('gives untrusted commands no storage that a race can lead outside', async () => {
  const executors = [createVirtualExecutor()]
  const open = (confinement: AdapterCapabilities['confinement'], require: 'untrusted' | { fileContent: 'kernel' }) =>
    createWorkspace({ mounts: [{ at: '/workspace', adapter: changed({ confinement }) }], executors, require })
  await expect(open('checked', 'untrusted')).rejects.toMatchObject({
    code: 'ENOEXECUTOR',
    path: '/workspace',
    message: expect.stringContaining('a race can win'),
    remedy: expect.stringContaining('`verified`'),
  })
  for (const workspace of [await open('verified', 'untrusted'), await open('checked', { fileContent: 'kernel' })]) {
    expect((await workspace.exec('echo runs')).stdout).toBe('runs\n')
    await workspace.close()
  }
})

it('[RP20] a workspace has no /tmp where its storage makes none, and commands run all the same', async () => {
  const adapter = changed({}, ['createScratch'])
  await using workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter }],
    executors: [createVirtualExecutor()],
  })
  expect((await workspace.exec('echo runs > file; cat file')).stdout).toBe('runs\n')
  await expect(workspace.write('/tmp/x', '')).rejects.toMatchObject({ code: 'EROFS' })
})
