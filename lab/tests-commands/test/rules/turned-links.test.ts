import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, paths, rules } from '@ws/core'
import type { CommandResult } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { AttachedExecutor, Executor, ExecutorResult, Guarantees, StartedCommand } from '@ws/core/executor'
import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

const kernel = Object.fromEntries(
  [
    'fileContent',
    'fileMetadata',
    'sockets',
    'network',
    'processes',
    'readOnlyMounts',
    'subtrees',
    'deniedSubtrees',
  ].map((field) => [field, 'kernel']),
)
const guarantees = { ...kernel, apiRules: 'none' } as unknown as Guarantees
const at = paths.parseMount

/** Real commands, as far as the workspace can tell: each changes the storage, as a program would behind the rules. */
function programs(change: () => Promise<unknown>): Executor {
  const empty = { stdout: '', stderr: '', output: '', stdoutBytes: 0, stderrBytes: 0, truncated: false }
  const ended = { ...empty, exitCode: 0, signal: null, timedOut: false, duration: 0 } as unknown as ExecutorResult
  const attached: AttachedExecutor = {
    guarantees,
    spawn: async () => {
      await change()
      async function* none(): AsyncGenerator<Uint8Array, void, undefined> {}
      const started: Partial<StartedCommand> = {
        stdout: none() as StartedCommand['stdout'],
        stderr: none() as StartedCommand['stderr'],
        output: () => empty,
        wait: () => Promise.resolve(ended),
      }
      return started as StartedCommand
    },
    close: () => Promise.resolve(),
  }
  return {
    name: 'programs',
    kind: 'process',
    probe: () => Promise.resolve({ available: true, guarantees, missing: [], howToFix: [], details: {} }),
    attach: () => Promise.resolve(attached),
  }
}

async function after(change: (adapter: StorageAdapter) => Promise<unknown>): Promise<CommandResult['violations']> {
  await using scratch = await createScratchDirectory({ prefix: 'ws-turned-' })
  const adapter = await createLocalAdapter({ root: scratch.path })
  for (const path of ['/a', '/b', '/d/x']) await adapter.write(at(path), new Uint8Array(), { parents: true })
  const links = { '/key': 'a', '/.env': 'middle', '/middle': 'b', '/.vscode': '.', '/gone': 'no/where' }
  for (const [path, target] of Object.entries(links)) await adapter.createSymlink?.(at(path), target)
  await using workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter }],
    rules: [rules.readOnly('key'), rules.readOnly('gone'), rules.protectSecrets(), rules.protectHooks()],
    executors: [programs(() => change(adapter))],
  })
  return (await workspace.exec('true')).violations
}

async function turn(adapter: StorageAdapter, path: string, target: string): Promise<void> {
  await adapter.delete(at(path))
  await adapter.createSymlink?.(at(path), target)
}

describe('links under rules, after a command', () => {
  const held = {
    rule: 'protectHooks',
    path: '/workspace/.vscode',
    kind: 'link',
    reason: expect.stringContaining('is a link to `/workspace`, which holds the link itself'),
    remedy: expect.stringContaining('name the real path'),
  }
  const turned = (rule: string, path: string) => ({
    rule,
    path,
    kind: 'link',
    reason: expect.stringContaining('leads elsewhere'),
  })

  it('[RU10] are reported where they were turned, removed, or lead on by another link', async () => {
    expect(await after(async () => undefined)).toEqual([held])
    expect(await after((adapter) => adapter.write(at('/d/y'), new Uint8Array()))).toEqual([held])
    const changes: readonly (readonly [(adapter: StorageAdapter) => Promise<unknown>, string, string])[] = [
      [(adapter) => turn(adapter, '/key', 'b'), 'readOnly(key)', '/workspace/key'],
      [(adapter) => adapter.delete(at('/key')), 'readOnly(key)', '/workspace/key'],
      [(adapter) => turn(adapter, '/middle', 'a'), 'protectSecrets', '/workspace/.env'],
      [(adapter) => turn(adapter, '/.env', './middle'), 'protectSecrets', '/workspace/.env'],
      [
        (adapter) => adapter.write(at('/no/where'), new Uint8Array(), { parents: true }),
        'readOnly(gone)',
        '/workspace/gone',
      ],
    ]
    for (const [change, rule, path] of changes) {
      const found = await after(change)
      expect(found, path).toHaveLength(2)
      expect(found, path).toEqual(expect.arrayContaining([held, expect.objectContaining(turned(rule, path))]))
    }
  })
})
