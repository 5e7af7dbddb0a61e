import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError, rules } from '@ws/core'
import type { Command, Rule, Workspace } from '@ws/core'
import { parseCommands } from '@ws/command-parser'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { doors, openSite } from '../doors/site.ts'

interface Asked {
  readonly rules?: readonly Rule[]
  readonly path?: string
  readonly command?: Command
  readonly acknowledge?: readonly string[]
}

const files = { 'file.txt': 'x', 'dir/x': 'x', 'private/x': 'x' }
const noExe = rules.predicate({ name: 'no-exe', test: ({ path }) => !path.endsWith('.exe') })
const notListed = rules.predicate({ name: 'no-list', test: ({ operation }) => operation !== 'list' })

const cases: Readonly<Record<string, Asked>> = {
  'without rules': {},
  'in a directory': { path: 'dir' },
  'in a directory that is missing': { path: 'nowhere' },
  'in a file': { path: 'file.txt' },
  'through a link to a directory': { path: 'link' },
  'above the root': { path: '/..' },
  'in a denied directory': { path: 'private', rules: [rules.deny('private')] },
  'in a root that is denied': { path: '', rules: [rules.deny('.')] },
  'in a root of which a part is open': { path: '', rules: [rules.withinWorkspace('dir')] },
  'in a root of which nothing is open': { path: '', rules: [rules.withinWorkspace('dir'), rules.deny('dir')] },
  'with a denied directory': { rules: [rules.deny('private')] },
  'with a denied name that is missing': { rules: [rules.deny('later/secret')] },
  'with a read-only part': { rules: [rules.readOnly('dir')] },
  'with a rule behind a link': { rules: [rules.deny('link/x')] },
  'with an output': { rules: [rules.withinOutput('out')] },
  'with an output that cannot be read': { rules: [rules.withinOutput('out', { readable: false })] },
  'with a predicate': { rules: [noExe] },
  'with a predicate that is acknowledged': { rules: [noExe], acknowledge: ['no-exe'] },
  'with a predicate against listing': { path: 'dir', rules: [notListed], acknowledge: ['no-list'] },
  'with two predicates, one acknowledged': { rules: [noExe, rules.maxFileSize(9)], acknowledge: ['no-exe'] },
  'with a rule acknowledged that is not there': { acknowledge: ['no-such-rule'] },
  'with a denied pattern': { rules: [rules.denyGlob('*.pem')] },
  'with both sets of names': { rules: [rules.protectSecrets(), rules.protectHooks()] },
  'of a denied program': { rules: [rules.denyCommand(['rm'], { parser: parseCommands })], command: 'ls; rm x' },
  'of an allowed program': { rules: [rules.denyCommand(['rm'], { parser: parseCommands })], command: 'ls' },
  'of a blank line': { command: '  ' },
}

/** Gives the outcome of `exec`, and the answer of `explain` about it. */
async function both(workspace: Workspace, { path = '.', command, acknowledge }: Asked) {
  const told = await workspace.explain({ operation: 'exec', path, command, acknowledge })
  const said = { effect: told.effect, code: told.code, rule: told.rule, reason: told.reason, remedy: told.remedy }
  try {
    await workspace.exec(command ?? 'true', { cwd: path, acknowledge, shell: 'bash' })
    return { said, done: { effect: 'allow', code: undefined, rule: undefined, reason: undefined, remedy: undefined } }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    const { code, rule, reason, remedy } = error
    return { said, done: { effect: 'deny', code, rule, reason, remedy } }
  }
}

for (const door of doors)
  describe(`explain, ${door.name}`, { tags: [...door.tags] }, () => {
    describeWith(door.components.map(component), 'of a command', { tags: [...door.tags] }, () => {
      it.each(Object.entries(cases))('[RU6] says what exec does %s', async (_what, asked) => {
        await using site = await openSite({
          root: door.root,
          executor: door.create(),
          files,
          rules: () => asked.rules ?? [],
        })
        await site.workspace.createSymlink('link', 'dir').catch(() => undefined)
        const { said, done } = await both(site.workspace, asked)
        expect(said).toEqual(done)
      })
    })
  })

describe('explain in the virtual executor', () => {
  it.each(Object.entries(cases))('[RU6] says what exec does %s', async (_what, asked) => {
    const tree = Object.fromEntries(Object.entries(files).map(([path, text]) => [`/${path}`, text]))
    await using workspace = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: createMemoryAdapter({ files: tree }) }],
      rules: asked.rules ?? [],
      executors: [createVirtualExecutor()],
    })
    await workspace.createSymlink('link', 'dir').catch(() => undefined)
    const { said, done } = await both(workspace, asked)
    expect(said).toEqual(done)
  })
})

describe('explain without an executor', () => {
  it('[RU6] says that there is none, and looks only', async () => {
    const adapter = createMemoryAdapter()
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter }],
      rules: [rules.withinOutput('out')],
    })
    const { said, done } = await both(workspace, {})
    expect(said).toEqual(done)
    expect(said.code).toBe('ENOEXECUTOR')
    expect(await workspace.exists('/out')).toBe(false)
  })
})
