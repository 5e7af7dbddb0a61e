import { createMemoryAdapter } from '@ws/adapter-memory'
import { createPolicy, createWorkspace, rules } from '@ws/core'
import type { Policy, Rule, VirtualPath, Workspace } from '@ws/core'
import type { PatternRule } from '@ws/core/executor'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openMemory, paths } from '../../src/memory-workspace.ts'

const files = {
  '/.env': 's3cret',
  '/app/.env': 's3cret',
  '/app/.env.example': 'EXAMPLE=s3cret',
  '/app/node_modules/pkg/.env': 's3cret',
  '/app/a.txt': 'plain s3cret',
  '/home/.ssh/id_rsa': 's3cret',
  '/home/.ssh/keys/deep': 's3cret',
}

const secrets: PatternRule = {
  kind: 'pattern',
  name: 'secrets',
  access: 'none',
  patterns: ['.env*', '.ssh'],
  except: ['.env.example'],
  skip: ['node_modules'],
}

async function open(list: readonly Rule[], tree: Readonly<Record<string, string>> = files): Promise<Workspace> {
  return (await openMemory({ '/': tree }, { rules: list })).workspace
}

async function found(workspace: Workspace, pattern: string): Promise<string[]> {
  return (await Array.fromAsync(workspace.search(pattern))).map(({ path }) => path).sort()
}

describe('a rule by pattern', () => {
  it('[RU4] denies what matches at any depth, and everything below it', async () => {
    const workspace = await open([secrets])
    for (const path of [
      '/.env',
      '/app/.env',
      '/home/.ssh',
      '/home/.ssh/id_rsa',
      '/home/.ssh/keys/deep',
      '/new/.env.x',
    ]) {
      expect(await codeOf(workspace.read(path)), path).toBe('EACCES')
      expect(await codeOf(workspace.stat(path)), path).toBe('EACCES')
      expect(await codeOf(workspace.write(path, 'x')), path).toBe('EACCES')
      expect(await codeOf(workspace.delete(path, { recursive: true })), path).toBe('EACCES')
    }
    await expect(workspace.read('/home/.ssh/keys/deep')).rejects.toThrow(
      '`/home/.ssh/keys/deep` lies in `/home/.ssh`, which matches the denied pattern `.ssh`',
    )
  })

  it('[RU4] leaves exceptions alone, and does not look below what it skips', async () => {
    const workspace = await open([secrets])
    expect(await workspace.readText('/app/.env.example')).toBe('EXAMPLE=s3cret')
    expect(await workspace.readText('/app/node_modules/pkg/.env')).toBe('s3cret')
    expect(await codeOf(workspace.write('/node_modules/.env', 'x'))).toBe('done')
    expect(await codeOf(workspace.write('/.ssh/.env.example', 'x'))).toBe('EACCES')
    expect(await codeOf(workspace.write('/.ssh/node_modules/x', 'x'))).toBe('EACCES')
    expect(await codeOf(workspace.write('/.env.example/.env', 'x'))).toBe('EACCES')
  })

  it('[RU4] folds case, and knows no difference between dot names and others', async () => {
    const tree = {
      '/.ssh/id_rsa': 'k',
      '/.ssh/ID_RSA': 'k',
      '/.ssh/x.pem': 'k',
      '/.pem': 'k',
      '/X.PEM': 'k',
      '/.config/.env': 'k',
      '/b/secret/.a': 'k',
      '/b/Secret/.a/c': 'k',
    }
    const globs = ['id_rsa', '*.pem', '**/.env*', 'secret/**']
    const workspace = await open(
      globs.map((glob) => rules.denyGlob(glob)),
      tree,
    )
    for (const path of Object.keys(tree)) expect(await codeOf(workspace.read(path)), path).toBe('EACCES')
  })

  it('[RU4] can leave reading, and take writing only', async () => {
    const rule: PatternRule = { kind: 'pattern', name: 'hooks', access: 'read-only', patterns: ['.git/hooks'] }
    const workspace = await open([rule], { '/r/.git/hooks/pre-commit': 'hook', '/r/.git/HEAD': 'h' })
    expect(await workspace.readText('/r/.git/hooks/pre-commit')).toBe('hook')
    expect(await codeOf(workspace.write('/r/.git/HEAD', 'x'))).toBe('done')
    expect(await codeOf(workspace.write('/r/.git/hooks/pre-commit', 'x'))).toBe('EACCES')
    expect(await codeOf(workspace.write('/other/.git/hooks/post-commit', 'x'))).toBe('EACCES')
    expect(await codeOf(workspace.move('/r/.git', '/r/git'))).toBe('EACCES')
    expect(await codeOf(workspace.delete('/r', { recursive: true }))).toBe('EACCES')
    expect(await codeOf(workspace.copy('/r', '/copy'))).toBe('EACCES')
    expect(await paths(workspace.list('/', { recursive: true }))).toContain('/r/.git/hooks/pre-commit')
    await expect(workspace.write('/r/.git/hooks/x', 'x')).rejects.toThrow('read-only pattern `.git/hooks`')
  })

  it('[RU3, RU4] is honoured by listings and searches', async () => {
    const workspace = await open([secrets])
    const entries = await Array.fromAsync(workspace.list('/', { recursive: true, details: true }))
    expect(entries.map(({ path }) => path).sort()).toEqual([
      '/.env',
      '/app',
      '/app/.env',
      '/app/.env.example',
      '/app/a.txt',
      '/app/node_modules',
      '/app/node_modules/pkg',
      '/app/node_modules/pkg/.env',
      '/home',
      '/home/.ssh',
    ])
    expect(entries.find(({ path }) => path === '/home/.ssh')).toEqual({
      path: '/home/.ssh',
      name: '.ssh',
      type: 'directory',
    })
    expect(await found(workspace, 's3cret')).toEqual(['/app/.env.example', '/app/a.txt', '/app/node_modules/pkg/.env'])
  })

  it('[RU3] does not let hits that may not be shown count as hits', async () => {
    const tree = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`/${index}.env`, 'needle'] as const))
    const workspace = await open([rules.denyGlob('*.env')], { ...tree, '/z.txt': 'needle' })
    const hits = await Array.fromAsync(workspace.search('needle', { maxHits: 3 }))
    expect(hits.map(({ path }) => path)).toEqual(['/z.txt'])
  })

  it('is refused when it is malformed or could match nothing', async () => {
    const bad: readonly (readonly [Partial<PatternRule>, RegExp])[] = [
      [{ patterns: [] }, /EINVAL.*at least one pattern.*secrets/],
      [{ access: 'read-write' as 'none' }, /EINVAL.*access.*read-write.*secrets/],
    ]
    for (const [change, message] of bad) await expect(open([{ ...secrets, ...change }])).rejects.toThrow(message)
  })

  it('does not depend on the adapter, and is decided without one', () => {
    const policy = createPolicy([secrets])
    const effect = (path: string) =>
      policy.decide({ operation: 'read', path: path as VirtualPath, need: 'read' }).effect
    expect([effect('/'), effect('/a/.ENV'), effect('/a/.Env.Example'), effect('/Node_Modules/.env')]).toEqual([
      'allow',
      'deny',
      'allow',
      'allow',
    ])
  })

  it('[RU3] holds for an engine of the caller’s own that declares it', async () => {
    const policy: Policy = {
      decide: () => ({ effect: 'allow' }),
      subtreeRules: () => [rules.deny('/app')],
      patternRules: () => [secrets],
    }
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: createMemoryAdapter({ files }) }], policy })
    expect(await codeOf(workspace.read('/.env'))).toBe('EACCES')
    expect(await codeOf(workspace.read('/App/a.txt'))).toBe('EACCES')
    expect(await codeOf(workspace.read('/app/a.txt'))).toBe('EACCES')
    await workspace.close()
  })
})
