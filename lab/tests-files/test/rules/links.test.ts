import { createWorkspace, rules } from '@ws/core'
import type { Rule, Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/index.ts'

const files = {
  '/data/vs/tasks.json': '{}',
  '/githooks/pre-commit': 'x',
  '/real/husky/x': '1',
  '/real/mcp.json': '{}',
  '/real/key': 'k',
  '/free.txt': 'free',
}

async function open(links: Readonly<Record<string, string>>, list: readonly Rule[]): Promise<Workspace> {
  const { workspace: maker, adapters } = await openMemory({ '/': files })
  for (const [path, target] of Object.entries(links)) {
    await maker.createDirectory(path.replace(/\/[^/]*$/, '') || '/')
    await maker.createSymlink(path, target)
  }
  return createWorkspace({ mounts: [{ at: '/', adapter: adapters[0] as StorageAdapter }], rules: list })
}

/** Every operation that writes at a file, by name. */
const writing: Readonly<Record<string, (workspace: Workspace, path: string) => Promise<unknown>>> = {
  write: (workspace, path) => workspace.write(path, 'x'),
  append: (workspace, path) => workspace.append(path, 'x'),
  edit: (workspace, path) => workspace.edit(path, () => new Uint8Array(1)),
  delete: (workspace, path) => workspace.delete(path),
  'move away': (workspace, path) => workspace.move(path, '/away'),
  'move over': (workspace, path) => workspace.move('/free.txt', path, { overwrite: true }),
  'copy over': (workspace, path) => workspace.copy('/free.txt', path, { overwrite: true }),
  chmod: (workspace, path) => workspace.chmod(path, 0o600),
  utimes: (workspace, path) => workspace.utimes(path, { modifiedAt: 1 }),
  'make a link': (workspace, path) => workspace.createSymlink(`${path}.new`, 'x'),
  'make a directory': (workspace, path) => workspace.createDirectory(`${path}.d`),
}

const named: readonly {
  readonly links: Readonly<Record<string, string>>
  readonly rule: Rule
  readonly path: string
  readonly target: string
}[] = [
  {
    links: { '/.vscode': 'data/vs' },
    rule: rules.protectHooks(),
    path: '/.vscode/tasks.json',
    target: '/data/vs/tasks.json',
  },
  {
    links: { '/.git/hooks': '../githooks' },
    rule: rules.protectHooks(),
    path: '/.git/hooks/pre-commit',
    target: '/githooks/pre-commit',
  },
  { links: { '/.husky': 'real/husky' }, rule: rules.readOnly('/.husky'), path: '/.husky/x', target: '/real/husky/x' },
  {
    links: { '/.claude': 'real' },
    rule: rules.subtree({ name: 'mine', entries: { '/.claude/key': 'read-only' } }),
    path: '/.claude/key',
    target: '/real/key',
  },
  {
    links: { '/dot.git': 'real' },
    rule: { kind: 'pattern', name: 'mine', access: 'read-only', patterns: ['*.git/key'] },
    path: '/dot.git/key',
    target: '/real/key',
  },
  {
    links: { '/one': '.vscode', '/.vscode': 'two', '/two': 'data/vs' },
    rule: rules.protectHooks(),
    path: '/one/tasks.json',
    target: '/data/vs/tasks.json',
  },
  {
    links: { '/area/one': '../.vscode', '/.vscode': 'data/vs' },
    rule: rules.protectHooks(),
    path: '/area/one/tasks.json',
    target: '/data/vs/tasks.json',
  },
]

describe('rules on a name that is a link', () => {
  for (const { links, rule, path, target } of named) {
    it(`[RU10] hold for ${path} and leave ${target} as it is`, async () => {
      for (const area of [[], [rules.readOnly('/area')]]) {
        for (const [name, act] of Object.entries(writing)) {
          const workspace = await open(links, [rule, ...area])
          // A new name beside a single ruled file is not named.
          const isBeside = name.startsWith('make') && path.endsWith('/key')
          if (!isBeside) expect(await codeOf(act(workspace, path)), name).toBe('EACCES')
          await act(workspace, target)
        }
      }
      const workspace = await open(links, [rule])
      for (const operation of ['write', 'append', 'delete', 'move'] as const) {
        const { effect, rule: by } = await workspace.explain({ operation, path })
        expect([effect, by], operation).toEqual(['deny', rule.name])
      }
      expect((await workspace.explain({ operation: 'write', path: target })).effect).toBe('allow')
      expect((await workspace.explain({ operation: 'read', path })).effect).toBe('allow')
    })
  }

  it('[RU10] hold for a file that is a link, and for the link itself', async () => {
    for (const [name, act] of Object.entries(writing)) {
      if (name.startsWith('make')) continue
      const workspace = await open({ '/key': 'real/key', '/.mcp.json': 'real/mcp.json' }, [
        rules.readOnly('/key'),
        rules.protectHooks(),
      ])
      expect(await codeOf(act(workspace, '/key')), name).toBe('EACCES')
      expect(await codeOf(act(workspace, '/.mcp.json')), name).toBe('EACCES')
      expect(await workspace.readText('/real/key')).toBe('k')
      expect(await workspace.readText('/key')).toBe('k')
    }
  })

  it('[RU10] leave links alone that merely lie in an area', async () => {
    const list = [rules.withinOutput('/out'), rules.readOnly('/area'), rules.readOnly('/real/husky')]
    const links = { '/area/out': '../out', '/area/deep': 'out', '/real/husky/l': '/out', '/top': 'out' }
    for (const path of ['/area/out', '/area/deep', '/real/husky/l', '/top']) {
      const workspace = await open({ ...links, '/out/.keep': 'x' }, list)
      await workspace.write(`${path}/new`, '1')
      await workspace.append(`${path}/new`, '2')
      await workspace.edit(`${path}/new`, { oldText: '12', newText: '3' })
      await workspace.move(`${path}/new`, `${path}/moved`)
      expect(await workspace.readText('/out/moved')).toBe('3')
      await workspace.delete(`${path}/moved`)
      expect((await workspace.explain({ operation: 'write', path: `${path}/x` })).effect).toBe('allow')
    }
  })

  it('[RU10] give way to an entry of the same rule below the link', async () => {
    const mine = rules.subtree({ name: 'mine', entries: { '/link': 'read-only', '/link/open': 'read-write' } })
    const workspace = await open({ '/link': 'real' }, [mine])
    await workspace.write('/link/open/x', '1')
    expect(await codeOf(workspace.write('/link/x', '1'))).toBe('EACCES')
  })

  it('[RU10] say in one sentence what a loop, or a link to nowhere, may not do', async () => {
    const links = { '/loop': 'pool', '/pool': 'loop', '/broken': 'gone/far', '/.env': 'gone.env' }
    const workspace = await open(links, [
      rules.readOnly('/loop'),
      rules.readOnly('/broken/sub'),
      rules.protectSecrets(),
      rules.protectHooks(),
    ])
    const refusals = {
      '/loop': 'is read-only (`/loop`)',
      '/loop/x': 'is read-only (`/loop`)',
      '/broken/sub': 'is read-only (`/broken/sub`)',
      '/broken/sub/x': 'is read-only (`/broken/sub`)',
      '/.env': 'usually holds credentials, and is denied',
    }
    for (const [path, reason] of Object.entries(refusals)) {
      await expect(workspace.write(path, 'x'), path).rejects.toThrow(reason)
      expect((await workspace.explain({ operation: 'write', path })).reason, path).toContain(reason)
    }
    expect(await codeOf(workspace.write('/pool', 'x'))).toBe('EACCES')
    expect(await codeOf(workspace.write('/broken/x', 'x'))).toBe('ENOENT')
    expect(await workspace.exists('/gone')).toBe(false)
  })
})
