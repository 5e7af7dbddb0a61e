import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import type { Policy, Rule, Workspace, WorkspaceOptions } from '@ws/core'
import type { Entry, StorageAdapter } from '@ws/core/adapter'
import { codeOf, createScratchDirectory } from '@ws/test-fixtures'
import { afterEach, describe, expect, it } from 'vitest'

const tree = { '/a.txt': 'needle', '/priv/in/deep': 'needle', '/priv/x': 'needle', '/pub/priv/y': 'needle' }

const closing: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of closing.splice(0).toReversed()) await one[Symbol.asyncDispose]()
})

async function createLocal(): Promise<StorageAdapter> {
  const scratch = await createScratchDirectory({ prefix: 'ws-listings-' })
  closing.push(scratch)
  for (const [path, text] of Object.entries(tree)) {
    await mkdir(dirname(join(scratch.path, path)), { recursive: true })
    await writeFile(join(scratch.path, path), text)
  }
  return await createLocalAdapter({ root: scratch.path })
}

const adapters = {
  memory: () => Promise.resolve(createMemoryAdapter({ files: tree })),
  local: createLocal,
}

/** Different ways to deny `/priv`, the last ones by its own name alone. */
const kinds: Readonly<Record<string, Partial<WorkspaceOptions>>> = {
  'a subtree rule': { rules: [rules.deny('/priv')] },
  'a rule by pattern': { rules: [rules.denyGlob('/priv')] },
  'a predicate': { rules: [predicate(({ path }) => path !== '/priv' && !path.startsWith('/priv/'))] },
  'a predicate for the directory alone': { rules: [predicate(({ path }) => path !== '/priv')] },
  'an engine': { policy: engine(({ path }) => path !== '/priv' && !path.startsWith('/priv/')) },
  'an engine for the directory alone': { policy: engine(({ path }) => path !== '/priv') },
}

function predicate(test: (request: Parameters<Policy['decide']>[0]) => boolean): Rule {
  return rules.predicate({ name: 'mine', test })
}

function engine(allows: (request: Parameters<Policy['decide']>[0]) => boolean): Policy {
  return {
    decide: (request) =>
      allows(request)
        ? { effect: 'allow' }
        : { effect: 'deny', code: 'EACCES', rule: 'mine', reason: 'is mine', remedy: 'ask me' },
    subtreeRules: () => [],
  }
}

async function* recorded(entries: AsyncIterable<Entry>, read: string[]): AsyncGenerator<Entry, undefined> {
  for await (const entry of entries) {
    read.push(entry.path)
    yield entry
  }
  return undefined
}

describe.each(Object.entries(adapters))('listings and searches over %s', (_name, create) => {
  async function open(
    options: Partial<WorkspaceOptions>,
    around = (adapter: StorageAdapter): StorageAdapter => adapter,
  ): Promise<Workspace> {
    const adapter = around(await create())
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], ...options })
    closing.push(adapter, workspace)
    return workspace
  }

  async function found(workspace: Workspace, options: { maxHits?: number } = {}): Promise<string[]> {
    return (await Array.fromAsync(workspace.search('needle', options))).map(({ path }) => path).sort()
  }

  it.each(Object.entries(kinds))('[RU3] neither enter nor describe what is denied by %s', async (_kind, options) => {
    const workspace = await open(options)
    expect(await codeOf(workspace.list('/priv').next())).toBe('EACCES')
    const entries = await Array.fromAsync(workspace.list('/', { recursive: true, details: true }))
    expect(entries.map(({ path }) => path).sort()).toEqual(['/a.txt', '/priv', '/pub', '/pub/priv', '/pub/priv/y'])
    const denied = { path: '/priv', name: 'priv', type: 'directory' }
    expect(entries.find(({ path }) => path === '/priv')).toEqual(denied)
    expect((await Array.fromAsync(workspace.list('/'))).find(({ path }) => path === '/priv')).toEqual(denied)
    expect(await found(workspace)).toEqual(['/a.txt', '/pub/priv/y'])
    expect(await found(workspace, { maxHits: 2 })).toEqual(['/a.txt', '/pub/priv/y'])
  })

  it.each(Object.entries(kinds))(
    '[RU3] have the adapter read nothing in what is denied by %s',
    async (_kind, options) => {
      const read: string[] = []
      const workspace = await open(options, (adapter) => {
        const list = adapter.list.bind(adapter)
        adapter.list = (path, given) => recorded(list(path, given), read)
        return adapter
      })
      await Array.fromAsync(workspace.list('/', { recursive: true }))
      expect(read.sort()).toEqual(['/a.txt', '/priv', '/pub', '/pub/priv', '/pub/priv/y'])
    },
  )

  it('[RU3] find nothing in a look-alike of a denied directory', async () => {
    const workspace = await open({ rules: [rules.deny('/PRIV')] })
    expect(await found(workspace)).toEqual(['/a.txt', '/pub/priv/y'])
    const entries = await Array.fromAsync(workspace.list('/', { recursive: true }))
    expect(entries.map(({ path }) => path)).not.toContain('/priv/x')
  })

  it('[RU3] describe a file only when it may be looked at, and show its content only when it may be read', async () => {
    const noStat = await open({
      rules: [predicate(({ path, operation }) => !(path === '/a.txt' && operation === 'stat'))],
    })
    const entries = await Array.fromAsync(noStat.list('/', { details: true }))
    expect(entries.find(({ path }) => path === '/a.txt')).toEqual({ path: '/a.txt', name: 'a.txt', type: 'file' })
    const noRead = await open({
      rules: [predicate(({ path, operation }) => !(path === '/a.txt' && operation === 'read'))],
    })
    expect(await found(noRead)).not.toContain('/a.txt')
    expect((await Array.fromAsync(noRead.list('/', { details: true })))[0]?.size).toBe(6)
  })

  it('[RU3] show no mount in a directory that may not be entered', async () => {
    const workspace = await createWorkspace({
      mounts: [
        { at: '/', adapter: await create() },
        { at: '/priv/mount/here', adapter: createMemoryAdapter({ files: { '/m': 'needle' } }) },
      ],
      rules: [rules.denyGlob('/priv')],
    })
    closing.push(workspace)
    const entries = await Array.fromAsync(workspace.list('/', { recursive: true }))
    expect(entries.map(({ path }) => path).filter((path) => path.startsWith('/priv'))).toEqual(['/priv'])
    expect(await found(workspace)).toEqual(['/a.txt', '/pub/priv/y'])
  })
})
