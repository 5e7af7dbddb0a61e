import { createMemoryAdapter } from '@ws/adapter-memory'
import { createPolicy, createWorkspace, isWorkspaceError, rules } from '@ws/core'
import type { Policy, Rule, Workspace, WorkspaceOptions } from '@ws/core'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/index.ts'

const tree = { '/keys/k': 'secret', '/out/o': 'o', '/a.md': 'a' }

async function open(at: string, list: readonly Rule[], options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  return (await openMemory({ [at]: tree }, { rules: list, ...options })).workspace
}

async function refusal(at: string, list: readonly Rule[], options: Partial<WorkspaceOptions> = {}): Promise<string> {
  try {
    await (await open(at, list, options)).close()
    return 'made'
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return error.message
  }
}

/** Each spelling names `keys` in a workspace at this root. */
const spellings = {
  '/': ['/keys', 'keys', '/workspace/keys', './keys/', '//workspace//keys', 'workspace/keys'],
  '/workspace': ['/workspace/keys', 'keys', './keys', '/workspace/./keys/'],
}

describe('the path of a rule is a workspace path', () => {
  for (const [at, names] of Object.entries(spellings)) {
    for (const name of names) {
      it(`[RU1] at ${at}, \`${name}\` in rules means what it means anywhere else`, async () => {
        const key = at === '/' ? '/keys/k' : '/workspace/keys/k'
        const denied = await open(at, [rules.deny(name)])
        expect(await codeOf(denied.readText(key))).toBe('EACCES')
        expect(await codeOf(denied.readText('keys/k'))).toBe('EACCES')
        expect(await codeOf(denied.readText('a.md'))).toBe('done')
        const fixed = await open(at, [rules.readOnly(name)])
        expect(await codeOf(fixed.write(key, 'x'))).toBe('EACCES')
        expect(await fixed.readText(key)).toBe('secret')
        const own = await open(at, [rules.subtree({ name: 'mine', entries: { [name]: 'none' } })])
        expect(await codeOf(own.readText(key))).toBe('EACCES')
        const confined = await open(at, [rules.withinOutput('out'), rules.allow(name, { justification: 'a test' })])
        expect(await codeOf(confined.write(key, 'x'))).toBe('done')
        expect(await codeOf(confined.write('a.md', 'x'))).toBe('EACCES')
        expect(await codeOf(confined.write('out/o', 'x'))).toBe('done')
      })
    }
  }

  it('[RU1] `.` and the empty path are the root of the workspace, `/` is the root of the namespace', async () => {
    for (const path of ['.', '']) {
      const inside = await open('/workspace', [rules.withinWorkspace(path)])
      expect(await codeOf(inside.readText('a.md'))).toBe('done')
      expect(await codeOf(inside.list('/').next())).toBe('EACCES')
    }
    const whole = await open('/workspace', [rules.withinWorkspace('/')])
    expect(await codeOf(whole.list('/').next())).toBe('done')
    expect(await codeOf(whole.write('a.md', 'x'))).toBe('done')
    for (const path of ['/', '.', '/workspace']) {
      const harmless = await open('/', [rules.withinWorkspace(path), rules.withinOutput(path)])
      expect(await codeOf(harmless.write('a.md', 'x')), path).toBe('done')
    }
  })

  it('[RU1] a rule above the mounts holds for those below it', async () => {
    const { workspace } = await openMemory(
      { '/data/one': tree, '/data/two': tree, '/more': tree },
      { rules: [rules.readOnly('/data')] },
    )
    expect(await codeOf(workspace.write('/data/one/a.md', 'x'))).toBe('EACCES')
    expect(await codeOf(workspace.write('/data/two/a.md', 'x'))).toBe('EACCES')
    expect(await codeOf(workspace.write('/more/a.md', 'x'))).toBe('done')
  })

  it('[RU1] keeps its name and its words as they were written', async () => {
    const workspace = await open('/', [rules.deny('/workspace/keys')])
    await expect(workspace.readText('/keys/k')).rejects.toMatchObject({ rule: 'deny(/workspace/keys)' })
  })

  it('[RU1] patterns are workspace paths too', async () => {
    const denied = await open('/', [rules.denyGlob('/workspace/keys/*')])
    expect(await codeOf(denied.readText('/keys/k'))).toBe('EACCES')
    expect(await codeOf(denied.readText('/a.md'))).toBe('done')
    expect(await refusal('/workspace', [rules.denyGlob('/keys/*')])).toMatch(/EINVAL.*`\/workspace\/keys\/\*`/)
    expect(await refusal('/', [rules.denyGlob('/{workspace,keys}/k')])).toMatch(/EINVAL.*alias/)
    expect(await refusal('/workspace', [rules.denyGlob('/*/keys')])).toBe('made')
    expect(await refusal('/workspace', [rules.denyGlob('/workspace/**')])).toBe('made')
  })
})

describe('a rule that can have no effect', () => {
  it.each([
    [
      '/workspace',
      [rules.deny('/keys')],
      /EINVAL.*`\/keys` lies outside every mount.*did you mean `\/workspace\/keys`/,
    ],
    ['/workspace', [rules.readOnly('/.git/hooks')], /did you mean `\/workspace\/.git\/hooks`/],
    ['/workspace', [rules.withinOutput('/out')], /did you mean `\/workspace\/out`/],
    ['/workspace', [rules.deny('/Workspace/keys')], /did you mean `\/workspace\/keys`/],
    ['/project', [rules.deny('/workspace/keys')], /did you mean `\/project\/keys`/],
    ['/', [rules.deny('/workspace/workspace/keys')], /EINVAL.*alias.*did you mean `\/workspace\/keys`/],
    ['/workspace', [rules.subtree({ name: 'm', entries: { keys: 'none', '/b': 'none' } })], /EINVAL.*`\/b`.*rule `m`/],
    [
      '/workspace',
      [rules.withinOutput('out'), rules.allow('/cache', { justification: 'x' })],
      /did you mean `\/workspace\/cache`/,
    ],
  ] as const)('[RU1] at %s is refused with the path that was meant (%#)', async (at, list, message) => {
    expect(await refusal(at, list)).toMatch(message)
  })

  it('[RU1] in a scratch directory that is not there is refused', async () => {
    expect(await refusal('/workspace', [rules.deny('/tmp/x')], { scratch: false })).toMatch(/EINVAL.*scratch/)
    expect(await refusal('/workspace', [rules.deny('/tmp/x')])).toBe('made')
    expect(await refusal('/', [rules.deny('/tmp/x')], { scratch: false })).toBe('made')
  })

  it('[RU1] `..` is refused, also where it would stay inside', async () => {
    for (const path of ['../keys', 'a/../keys', '/a/../keys', '/..', '/workspace/..']) {
      expect(() => rules.deny(path), path).toThrow(/EINVAL.*`\.\.`/)
    }
  })

  it('[RU1] two spellings of one path with different access are refused', async () => {
    const entries = { '/keys': 'none', '/workspace/keys': 'read-only' } as const
    expect(await refusal('/', [rules.subtree({ name: 'm', entries })])).toMatch(/EINVAL.*twice.*rule `m`/)
    const same = rules.subtree({ name: 'm', entries: { '/keys': 'none', '/workspace/keys': 'none' } })
    expect(await refusal('/', [same])).toBe('made')
  })

  it('[RU1] rules that change nothing stay legal', async () => {
    const list = [
      rules.withinWorkspace('/'),
      rules.readOnly('/not-there'),
      rules.deny('/keys'),
      rules.readOnly('/keys'),
    ]
    expect(await refusal('/', list)).toBe('made')
  })

  it('[RU7] what is not a rule is refused', async () => {
    for (const rule of [null, 'deny', {}, { kind: 'subtre', name: 'x' }, { kind: 'subtree', name: 'x' }]) {
      expect(await refusal('/', [rule as never]), JSON.stringify(rule)).toMatch(/EINVAL/)
    }
    const odd = { kind: 'subtree', name: 'x', entries: [{ path: '/a', access: 'nothing' }] } as never
    expect(await refusal('/', [odd])).toMatch(/EINVAL.*access.*nothing/)
  })
})

describe('an engine of the caller’s own', () => {
  const engine = (path: string): Policy => ({
    decide: () => ({ effect: 'allow' }),
    subtreeRules: () => [rules.deny(path)],
  })
  const openOwn = (at: string, policy: Policy) =>
    createWorkspace({ mounts: [{ at, adapter: createMemoryAdapter({ files: tree }) }], policy })

  it('[RU1] declares workspace paths', async () => {
    for (const path of ['/workspace/keys', 'keys', '/keys']) {
      const workspace = await openOwn('/', engine(path))
      expect(await codeOf(workspace.readText('/keys/k')), path).toBe('EACCES')
      expect(await codeOf(workspace.readText('/KEYS/k')), path).toBe('EACCES')
    }
    await expect(openOwn('/workspace', engine('/keys'))).rejects.toThrow('did you mean `/workspace/keys`')
  })

  it('[RU1] `createPolicy` means in a workspace what `rules` means', async () => {
    const workspace = await openOwn('/', createPolicy([rules.deny('/workspace/keys')]))
    expect(await codeOf(workspace.readText('/keys/k'))).toBe('EACCES')
    await expect(openOwn('/workspace', createPolicy([rules.deny('/keys')]))).rejects.toThrow('/workspace/keys')
  })
})
