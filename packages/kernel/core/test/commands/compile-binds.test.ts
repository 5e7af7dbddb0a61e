import { WorkspaceError, createWorkspace, rules } from '@ws/core'
import { LinkSignal } from '@ws/core/adapter'
import type { FileType, Rule, Workspace } from '@ws/core'
import type { Entry, MountPath, StorageAdapter } from '@ws/core/adapter'
import type { AttachedExecutor, BindPlan, Executor, Guarantees, HostPath } from '@ws/core/executor'
import { describe, expect, it } from 'vitest'

/** A link is written as its target: `-> data/vs`. */
type Tree = Readonly<Record<string, 'file' | 'directory' | 'other' | `-> ${string}`>>

/** A disk that only knows what is where: enough to compile against. */
function disk(root: string, tree: Tree): StorageAdapter {
  const known = new Map(Object.entries(tree))
  const isLink = (kind: string | undefined) => kind?.startsWith('-> ') === true
  const typeOf = (kind: Tree[string] | undefined) => (isLink(kind) ? 'symlink' : (kind as FileType | undefined))
  const targetOf = (path: string) => known.get(path)?.slice(3) ?? ''
  const kindOf = (path: string) => {
    const link = [...known.keys()].find((entry) => isLink(known.get(entry)) && path.startsWith(`${entry}/`))
    if (link !== undefined) {
      const at = link as MountPath
      throw new LinkSignal({ argument: 'path', at, target: targetOf(at), rest: path.slice(link.length + 1) })
    }
    return typeOf(path === '/' ? 'directory' : known.get(path))
  }
  const adapter: Partial<StorageAdapter> = {
    name: 'disk',
    capabilities: { readOnly: false, caseSensitive: true } as StorageAdapter['capabilities'],
    stat: async (path) => {
      const type = kindOf(path)
      if (type !== undefined) return { type, size: 0, version: '1' }
      const below = [...known].some(([file, kind]) => kind === 'file' && path.startsWith(`${file}/`))
      const code = below ? 'ENOTDIR' : 'ENOENT'
      throw new WorkspaceError({ code, operation: 'stat', path, reason: 'does not exist' })
    },
    async *list(path, { recursive = false } = {}): AsyncGenerator<Entry, void, undefined> {
      const prefix = path === '/' ? '/' : `${path}/`
      for (const [entry, type] of known) {
        if (!entry.startsWith(prefix) || (!recursive && entry.slice(prefix.length).includes('/'))) continue
        const name = entry.slice(entry.lastIndexOf('/') + 1)
        yield { path: entry as MountPath, name, type: typeOf(type) ?? 'other' }
      }
    },
    readSymlink: async (path) => targetOf(path),
    createDirectory: (path) => {
      known.set(path, 'directory')
      return Promise.resolve()
    },
    hostPath: (path) => (path === '/' ? root : root + path) as HostPath,
    close: () => Promise.resolve(),
  }
  return adapter as StorageAdapter
}

const kernel: Guarantees = {
  fileContent: 'kernel',
  fileMetadata: 'kernel',
  sockets: 'kernel',
  network: 'kernel',
  processes: 'kernel',
  readOnlyMounts: 'kernel',
  subtrees: 'kernel',
  deniedSubtrees: 'kernel',
  apiRules: 'none',
}

interface RecorderOptions {
  readonly guarantees?: Guarantees
  /** The executor can keep commands from what is missing. Default true. */
  readonly reserves?: boolean
}

/** Notes the plan it is given and refuses to run. */
function recorder({ guarantees = kernel, reserves = true }: RecorderOptions, plans: BindPlan[]): Executor {
  const attached: AttachedExecutor = {
    guarantees,
    ...(reserves ? { refuseMissing: () => undefined } : {}),
    spawn: (_request, plan) => {
      plans.push(plan)
      return Promise.reject(new WorkspaceError({ code: 'ENOEXEC', operation: 'exec', reason: 'is only a recorder' }))
    },
    close: () => Promise.resolve(),
  }
  return {
    name: 'recorder',
    kind: 'process',
    probe: () => Promise.resolve({ available: true, guarantees, missing: [], howToFix: [], details: {} }),
    attach: () => Promise.resolve(attached),
  }
}

async function open(
  tree: Tree,
  list: readonly Rule[],
  options: RecorderOptions = {},
): Promise<{ workspace: Workspace; plans: BindPlan[] }> {
  const plans: BindPlan[] = []
  const workspace = await createWorkspace({
    mounts: [
      { at: '/', adapter: disk('/host/project', tree) },
      { at: '/.solven/skills/system', adapter: disk('/host/skills', {}), access: 'read-only' },
    ],
    rules: list,
    scratch: false,
    executors: [recorder(options, plans)],
  })
  return { workspace, plans }
}

async function compiled(tree: Tree, list: readonly Rule[], acknowledge: readonly string[] = []): Promise<string[]> {
  const { workspace, plans } = await open(tree, list)
  await expect(workspace.exec('true', { acknowledge })).rejects.toThrow('ENOEXEC')
  await workspace.close()
  return (plans[0]?.binds ?? []).map(
    ({ kind, at, access, type, missing }) =>
      `${kind} ${at} ${access}${type === 'file' ? ' file' : ''}${missing === undefined ? '' : ' missing'}`,
  )
}

async function refusal(tree: Tree, list: readonly Rule[], options: RecorderOptions = {}): Promise<string> {
  const { workspace } = await open(tree, list, options)
  const error: unknown = await workspace.exec('true').catch((caught: unknown) => caught)
  await workspace.close()
  return error instanceof WorkspaceError ? `${error.code} ${error.rule ?? ''}` : String(error)
}

describe('compilation of mounts', () => {
  it('binds each mount at its own path, and pins the way to it', async () => {
    expect(await compiled({}, [])).toEqual([
      'mount / read-write',
      'pin /.solven read-write',
      'pin /.solven/skills read-write',
      'mount /.solven/skills/system read-only',
    ])
  })

  it('[RP17] refuses commands where nothing holds a read-only mount', async () => {
    expect(await refusal({}, [], { guarantees: { ...kernel, readOnlyMounts: 'none' } })).toBe(
      'EUNENFORCEABLE mount:/.solven/skills/system',
    )
  })
})

describe('compilation of rules', () => {
  const tree: Tree = {
    '/.git': 'directory',
    '/.git/hooks': 'directory',
    '/.env': 'file',
    '/a': 'directory',
    '/a/b': 'directory',
  }

  it('masks what is denied, and pins its ancestors', async () => {
    const binds = await compiled(tree, [rules.deny('/a/b'), rules.deny('/.env')])
    expect(binds).toContain('mask /a/b none')
    expect(binds).toContain('pin /a read-write')
    expect(binds).toContain('mask /.env none file')
    expect(binds.indexOf('pin /a read-write')).toBeLessThan(binds.indexOf('mask /a/b none'))
  })

  it('binds read-only what may only be read', async () => {
    expect(await compiled(tree, [rules.readOnly('/.git/hooks')])).toEqual(
      expect.arrayContaining(['pin /.git read-write', 'subtree /.git/hooks read-only']),
    )
  })

  it('needs no pins where the ancestor is read-only already', async () => {
    const binds = await compiled(tree, [rules.withinOutput('/a/b')])
    expect(binds[0]).toBe('mount / read-only')
    expect(binds).toContain('subtree /a/b read-write')
    expect(binds.filter((bind) => bind.startsWith('pin'))).toEqual([])
  })

  it('closes a denied directory that holds an allowed one', async () => {
    const binds = await compiled(tree, [rules.withinWorkspace('/a/b')])
    expect(binds.slice(0, 1)).toEqual(['closed / none'])
    expect(binds).toContain('subtree /a/b read-write')
    expect(binds).toContain('mask /.solven/skills/system none')
  })

  it('makes an output root that is not there yet, as the file API does', async () => {
    expect(await compiled(tree, [rules.withinOutput('/out')])).toContain('subtree /out read-write')
  })

  it('[RU2] has a protected name that is missing reserved, with the way to it pinned', async () => {
    const binds = await compiled(tree, [rules.deny('/later'), rules.readOnly('/a/new/hooks')])
    expect(binds).toEqual(
      expect.arrayContaining([
        'mask /later none missing',
        'pin /a read-write',
        'pin /a/new read-write',
        'subtree /a/new/hooks read-only missing',
      ]),
    )
  })

  it('[RU2] tells the executor where the name is, from the directory of its mount', async () => {
    const { workspace, plans } = await open(tree, [rules.deny('/a/new/x')])
    await expect(workspace.exec('true')).rejects.toThrow('ENOEXEC')
    expect(plans[0]?.binds.find(({ at }) => at === '/a/new/x')?.missing).toEqual({
      root: '/host/project',
      path: '/a/new/x',
    })
    await workspace.close()
  })

  it('[RU2] has nothing to hold where nothing can be made', async () => {
    for (const name of ['/later', '/.venv/a/b', '/a/later']) {
      const binds = await compiled(tree, [rules.withinOutput('/out'), rules.deny(name), rules.readOnly('/a/b/new')])
      expect(binds[0]).toBe('mount / read-only')
      expect(binds.filter((bind) => bind.includes('later') || bind.includes('venv') || bind.includes('new'))).toEqual(
        [],
      )
      expect(await refusal(tree, [rules.withinOutput('/out'), rules.deny(name)], { reserves: false })).toBe('ENOEXEC ')
    }
  })

  it('[RU2] refuses where the name cannot be reserved, and blames the rule that needs it alone', async () => {
    expect(await refusal(tree, [rules.deny('/later')], { reserves: false })).toBe('EUNENFORCEABLE deny(/later)')
    const two = [rules.withinOutput('/a'), rules.deny('/a/later')]
    expect(await refusal(tree, two, { reserves: false })).toBe('EUNENFORCEABLE deny(/a/later)')
    expect(await compiled(tree, [rules.deny('/later')], ['deny(/later)'])).not.toContain('mask /later none missing')
  })

  it('[RU4] covers what matches a rule by pattern now, within what other rules leave', async () => {
    const keys: Tree = {
      '/a': 'directory',
      '/a/x.pem': 'file',
      '/a/b': 'directory',
      '/a/b/y.pem': 'file',
      '/z.pem': 'file',
    }
    const binds = await compiled(keys, [rules.denyGlob('*.pem'), rules.deny('/a/b')])
    expect(binds).toEqual(
      expect.arrayContaining(['mask /z.pem none file', 'pin /a read-write', 'mask /a/x.pem none file']),
    )
    expect(binds.filter((bind) => bind.includes('y.pem'))).toEqual([])
    expect(await compiled(keys, [rules.denyGlob('b'), rules.withinOutput('/a/b')])).toEqual([
      'mount / read-only',
      'mask /a/b none',
      'mount /.solven/skills/system read-only',
    ])
    expect(await refusal(keys, [rules.denyGlob('*.pem')], { guarantees: { ...kernel, deniedSubtrees: 'none' } })).toBe(
      'EUNENFORCEABLE denyGlob(*.pem)',
    )
    expect(await compiled(keys, [rules.denyGlob('*.pem')], ['denyGlob(*.pem)'])).not.toContain('mask /z.pem none file')
  })

  /** Directories with files of one kind in each. */
  function many(directories: number, each: number, name: (index: number) => string, top = '/many'): Tree {
    const tree: Record<string, 'file' | 'directory'> = { [top]: 'directory' }
    for (let directory = 0; directory < directories; directory++) {
      tree[`${top}/${directory}`] = 'directory'
      for (let index = 0; index < each; index++) tree[`${top}/${directory}/${name(index)}`] = 'file'
    }
    return tree
  }

  it('[RU10] covers 1,000 matches one by one, and those beyond that by directories that they fill', async () => {
    const env = (index: number) => `.env.${index}`
    const binds = await compiled(many(100, 10, env), [rules.protectSecrets()])
    expect(binds.filter((bind) => bind.startsWith('mask'))).toHaveLength(1000)
    expect(binds).toContain('mask /many/7/.env.3 none file')
    const tree = { ...many(200, 10, env), '/many/7/other': 'file', '/many/8/.env.example': 'file' } as const
    const merged = await compiled(tree, [rules.protectSecrets()])
    expect(merged.filter((bind) => bind.startsWith('mask'))).toHaveLength(198 + 2 * 10)
    expect(merged).toEqual(expect.arrayContaining(['mask /many/9 none', 'mask /many/7/.env.3 none file']))
    // The root of a mount and a directory with one match stay as they are.
    expect(await refusal(many(1001, 1, env), [rules.protectSecrets()])).toBe('EUNENFORCEABLE protectSecrets')
  })

  it('[RU10] covers each part of 28 submodules, and the directory of 300 as one', async () => {
    const names = ['HEAD', 'objects', 'refs', 'hooks', 'config', 'commondir']
    const git = (count: number): Tree => ({
      '/.git': 'directory',
      ...many(count, names.length, (index) => names[index] ?? '', '/.git/modules'),
    })
    const few = await compiled(git(28), [rules.protectHooks()])
    expect(few).toContain('subtree /.git/modules/27/config read-only file')
    expect(few).toContain('pin /.git/modules/27 read-write')
    const one = await compiled(git(300), [rules.protectHooks()])
    expect(one.filter((bind) => bind.includes('modules'))).toEqual(['subtree /.git/modules read-only'])
  })

  it('[RU10] names the directories with the most of too many matches, and a rule that would do', async () => {
    const tree: Tree = {
      ...many(1, 3000, (index) => `${index}.pem`, '/a'),
      '/a/0/plain': 'file',
      '/b': 'directory',
      ...many(1200, 1, () => 'x.pem', '/b/c'),
      ...many(800, 1, () => 'x.pem', '/d'),
    }
    const { workspace } = await open(tree, [rules.denyGlob('*.pem')])
    await expect(workspace.exec('true')).rejects.toThrow(
      "holds 5000 entries that the rule is about (most: 3000 in `/a/0`, 1200 in `/b/c`, 800 in `/d`), and a command can cover 1000 (rule `denyGlob(*.pem)`); cover a whole directory: `rules.deny('/a/0')`; `ws doctor --matches` lists them",
    )
    await workspace.close()
    // It does: what another rule covers counts no more.
    const whole = ['/a/0', '/b/c', '/d']
    expect(await compiled(tree, [rules.denyGlob('*.pem'), ...whole.map((path) => rules.deny(path))])).toContain(
      'mask /b/c none',
    )
    const hooks = many(1001, 1, () => '.mcp.json', '/e')
    expect(await refusal(hooks, [rules.protectHooks()])).toBe('EUNENFORCEABLE protectHooks')
    expect(await compiled(hooks, [rules.protectHooks(), rules.readOnly('/e')])).toContain('subtree /e read-only')
  })

  it('[RU2] pins a file that stands where a rule needs a directory, and reserves nothing', async () => {
    const worktree: Tree = { '/.git': 'file', '/a': 'directory', '/a/.git': 'file' }
    const binds = await compiled(worktree, [rules.readOnly('/.git/hooks'), rules.deny('/a/.git/hooks/x')])
    expect(binds).toEqual(
      expect.arrayContaining(['pin /.git read-write file', 'pin /a read-write', 'pin /a/.git read-write file']),
    )
    expect(binds.filter((bind) => bind.includes('missing') || bind.includes('hooks'))).toEqual([])
  })

  it('[RU4] makes read-only what another rule opens for writing in a match that is read-only already', async () => {
    const given: Tree = {
      '/a': 'directory',
      '/a/.git': 'directory',
      '/a/.git/hooks': 'directory',
      '/a/.git/hooks/x': 'file',
    }
    const entries = { '/a': 'read-only', '/a/.git/hooks/x': 'read-write' } as const
    const binds = await compiled(given, [rules.subtree({ name: 'opens', entries }), rules.protectHooks()])
    expect(binds).toContain('subtree /a/.git/hooks/x read-only file')
    expect(binds.filter((bind) => bind.includes('/a/') && bind.includes('read-write'))).toEqual([])
  })

  it('[RU4] opens nothing in what matches a denied pattern, whatever another rule opens there', async () => {
    const given: Tree = { '/keys': 'directory', '/keys/open': 'directory', '/keys/open/deep': 'file' }
    const opening = [
      rules.withinWorkspace('/keys/open'),
      rules.subtree({ name: 'opens', entries: { '/keys': 'none', '/keys/open/deep': 'read-write' } }),
      rules.withinOutput('/keys/open'),
    ]
    for (const rule of opening) {
      const binds = await compiled(given, [rule, rules.denyGlob('keys')])
      const open = binds.filter((bind) => bind.includes('/keys/') && !bind.endsWith(' none'))
      expect(open, rule.name).toEqual([])
    }
  })

  it('[RU1] masks a look-alike of a denied name, whatever another rule says of that spelling', async () => {
    const given: Tree = { '/.ENV': 'directory', '/.ENV/out': 'directory', '/.env': 'file' }
    const binds = await compiled(given, [rules.deny('/.env'), rules.withinOutput('/.ENV/out')])
    expect(binds.filter((bind) => bind.includes('.ENV'))).toEqual(['mask /.ENV none'])
  })

  it('masks existing case variants of a denied name', async () => {
    const binds = await compiled({ ...tree, '/.ENV': 'file', '/A': 'directory', '/A/B': 'directory' }, [
      rules.deny('/.env'),
      rules.deny('/a/b'),
    ])
    expect(binds).toEqual(expect.arrayContaining(['mask /.ENV none file', 'mask /A/B none', 'pin /A read-write']))
  })

  it('[RU1] shows no look-alike in a part that shows nothing: its mask would show the name', async () => {
    const given: Tree = { '/A': 'file', '/.ENV': 'directory', '/.ENV/.env': 'file' }
    const binds = await compiled(given, [rules.deny('/.ENV/.ENV'), rules.withinWorkspace('/A')])
    expect(binds.filter((bind) => bind.includes('.env'))).toEqual([])
  })

  it('leaves write-only and predicate rules to the file API, and says so', async () => {
    expect(await refusal(tree, [rules.withinOutput('/a', { readable: false })])).toBe('EUNENFORCEABLE withinOutput(/a)')
    expect(await refusal(tree, [rules.maxFileSize(10)])).toBe('EUNENFORCEABLE maxFileSize(10)')
  })

  it('tells which guarantee is missing for which rule', async () => {
    expect(await refusal(tree, [rules.readOnly('/.git/hooks')], { guarantees: { ...kernel, subtrees: 'none' } })).toBe(
      'EUNENFORCEABLE readOnly(/.git/hooks)',
    )
    expect(await refusal(tree, [rules.deny('/.env')], { guarantees: { ...kernel, deniedSubtrees: 'none' } })).toBe(
      'EUNENFORCEABLE deny(/.env)',
    )
  })
})

describe('aliases and borders', () => {
  it('repeat the view at /workspace, and list the directories that renames cannot cross', async () => {
    const { workspace, plans } = await open({ '/a': 'directory', '/a/b': 'directory' }, [rules.deny('/a/b')])
    await expect(workspace.exec('true')).rejects.toThrow('ENOEXEC')
    expect(plans[0]?.aliases).toEqual(['/workspace'])
    expect(plans[0]?.renameBorders).toEqual(expect.arrayContaining(['/a', '/.solven']))
    const explained = await workspace.explain({ operation: 'write', path: '/a/c' })
    expect(explained.renameBorders).toEqual(['/a'])
    await workspace.close()
  })
})

describe('rules on names that are links', () => {
  const mounts = [
    'mount / read-write',
    'pin /.solven read-write',
    'pin /.solven/skills read-write',
    'mount /.solven/skills/system read-only',
  ]
  const beside = async (tree: Tree, list: readonly Rule[]) =>
    (await compiled(tree, list)).filter((bind) => !mounts.includes(bind))
  const data: Tree = { '/data': 'directory', '/data/key': 'file' }

  it('[RU10] bind the target, by exact rules and by patterns, through chains and below a link', async () => {
    const bound: readonly (readonly [Tree, Rule, readonly string[]])[] = [
      [{ '/link': '-> data' }, rules.deny('/link'), ['mask /data none']],
      [
        { '/link': '-> data/key' },
        rules.readOnly('/link'),
        ['pin /data read-write', 'subtree /data/key read-only file'],
      ],
      [{ '/link': '-> data' }, rules.deny('/link/key'), ['pin /data read-write', 'mask /data/key none file']],
      [{ '/link': '-> /two', '/two': '-> ./data/.' }, rules.deny('/link'), ['mask /data none']],
      [{ '/.env': '-> data/key' }, rules.protectSecrets(), ['pin /data read-write', 'mask /data/key none file']],
      [{ '/.vscode': '-> data' }, rules.protectHooks(), ['subtree /data read-only']],
      [{ '/LINK': '-> data' }, rules.deny('/link'), ['mask /link none missing', 'mask /data none']],
      [
        { '/link': '-> data/new' },
        rules.readOnly('/link'),
        ['pin /data read-write', 'subtree /data/new read-only missing'],
      ],
      [{ '/.env': '-> data/new' }, rules.protectSecrets(), ['pin /data read-write', 'mask /data/new none missing']],
      [{ '/.env': '-> far/new' }, rules.protectSecrets(), []],
      [
        { '/link': '-> data' },
        rules.subtree({ name: 'mine', entries: { '/link': 'none', '/data/key': 'read-only' } }),
        ['mask /data none'],
      ],
    ]
    for (const [tree, rule, binds] of bound) {
      expect((await beside({ ...data, ...tree }, [rule])).sort(), JSON.stringify(tree)).toEqual([...binds].sort())
    }
  })

  it('[RU10] bind names that match by the name of a link above them, and nothing else below it', async () => {
    const own: Rule = {
      kind: 'pattern',
      name: 'own',
      access: 'read-only',
      patterns: ['.claude/{settings,deep/*}', '*.far'],
    }
    const tree: Tree = {
      '/.claude': '-> shared',
      '/shared': 'directory',
      '/shared/settings': 'file',
      '/shared/other': 'file',
      '/shared/deep': '-> ../low',
      '/low': 'directory',
      '/low/x': 'file',
      '/loop/.claude': '-> .',
    }
    const { workspace, plans } = await open(tree, [own])
    for (const repeated of [0, 1]) {
      await expect(workspace.exec('true'), `${repeated}`).rejects.toThrow('ENOEXEC')
      const bound = plans[repeated]?.binds.filter(({ access }) => access === 'read-only').map(({ at }) => at)
      expect(bound).toEqual(expect.arrayContaining(['/shared/settings', '/low/x']))
      expect(bound).not.toContain('/shared/other')
    }
    const { matches } = await workspace.explain({ operation: 'exec', path: '/', command: 'true' })
    expect(matches?.map(({ path }) => path)).toEqual(['/.claude/settings', '/.claude/deep/x'])
  })

  it('[RU10] refuse a command where an exact path runs through a link to nowhere', async () => {
    for (const target of ['/usr/share', 'link', 'data/key']) {
      const tree: Tree = { ...data, '/link': `-> ${target}` }
      for (const rule of [rules.deny('/link/sub/key'), rules.readOnly('/link/sub')]) {
        expect(await refusal(tree, [rule]), `${target} ${rule.name}`).toBe(`EUNENFORCEABLE ${rule.name}`)
      }
    }
  })

  it('[RU10] refuse no command for a target that cannot be covered, and say so', async () => {
    const uncovered: readonly (readonly [string, Rule, string])[] = [
      ['.', rules.protectSecrets(), 'holds the link itself or a whole mount'],
      ['/', rules.protectHooks(), 'holds the link itself or a whole mount'],
      ['/.solven/skills', rules.protectSecrets(), 'holds the link itself or a whole mount'],
      ['/.solven/skills/system', rules.protectSecrets(), 'holds the link itself or a whole mount'],
      ['.', rules.deny('/d/.env'), 'holds the link itself or a whole mount'],
      ['../data/fifo', rules.protectSecrets(), 'a FIFO, a socket or a device'],
    ]
    const fifo = { '/data/fifo': 'other' } as const
    for (const [target, rule, reason] of uncovered) {
      const tree: Tree = {
        ...data,
        ...fifo,
        '/d': 'directory',
        '/d/.env': `-> ${target}`,
        '/d/.vscode': `-> ${target}`,
      }
      expect(await beside(tree, [rule]), target).toEqual([])
      const { workspace, plans } = await open(tree, [rule])
      await expect(workspace.exec('true')).rejects.toThrow('ENOEXEC')
      expect(
        plans[0]?.links?.map(({ problem }) => problem?.reason),
        target,
      ).toEqual([expect.stringContaining(reason)])
      const { unenforceable = [] } = await workspace.explain({ operation: 'exec', path: '/', command: 'true' })
      expect(
        unenforceable.map(({ rule: name }) => name),
        target,
      ).toEqual([rule.name])
    }
    const odd = await open({ '/d\nNote: x': 'directory', '/d\nNote: x/.env': '-> .' }, [rules.protectSecrets()])
    await expect(odd.workspace.exec('true')).rejects.toThrow('ENOEXEC')
    expect(odd.plans[0]?.links?.[0]?.problem?.reason).toMatch(/^is a link to `\/d\\u\{a\}Note: x`/)
    const git: Tree = { ...data, '/.git': '-> data' }
    const { workspace, plans } = await open(git, [rules.protectHooks()])
    await expect(workspace.exec('true')).rejects.toThrow('ENOEXEC')
    expect(plans[0]?.links?.[0]?.problem?.reason).toContain('the rule is about files')
  })

  it('[RU10] hold nothing at a loop or a way out, and reserve only where the executor can', async () => {
    const tree: Tree = { '/a': '-> b', '/b': '-> a', '/low': '-> /data/key/x', ...data }
    for (const path of ['/a', '/low']) expect(await beside(tree, [rules.deny(path)])).toEqual([])
    expect(await refusal({ '/link': '-> new' }, [rules.deny('/link')], { reserves: false })).toBe('ENOEXEC ')
  })
})
