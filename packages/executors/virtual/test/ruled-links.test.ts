import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'

const files = { '/data/vs/tasks.json': 'old\n', '/real.env': 'secret\n', '/free': 'free\n', '/out/x': 'x\n' }
const links = { '/.vscode': 'data/vs', '/.env': 'real.env', '/key': 'data/vs/tasks.json', '/area/out': '../out' }

/** Each writes through a link that a rule names, or takes the link itself away. */
const attempts = [
  'echo x > .vscode/tasks.json',
  'echo x >> .vscode/tasks.json',
  'echo x | tee .vscode/tasks.json',
  'cp free .vscode/tasks.json',
  'cp free key',
  'cp -f free key',
  'cat free > key',
  'mv free .vscode/tasks.json',
  'mv .vscode/tasks.json away',
  'rm .vscode/tasks.json',
  'rm -f .vscode',
  'mv .vscode away',
  'ln -sfn out .vscode',
  'sed -i s/old/new/ .vscode/tasks.json',
  'touch .vscode/new',
  'mkdir .vscode/new',
  'truncate -s 0 key',
  'chmod 600 .vscode/tasks.json',
  'cd .vscode; echo x > tasks.json',
  'cd .vscode && cp ../free tasks.json',
  'cp free .env',
  'cat .env',
]

describe('rules on names that are links, in the interpreter', () => {
  let workspace: Awaited<ReturnType<typeof createWorkspace>>
  beforeEach(async () => {
    const adapter = createMemoryAdapter({ files })
    await adapter.createDirectory('/area' as never)
    for (const [path, target] of Object.entries(links)) await adapter.createSymlink?.(path as never, target)
    workspace = await createWorkspace({
      mounts: [{ at: '/', adapter }],
      rules: [rules.protectHooks(), rules.protectSecrets(), rules.readOnly('/key'), rules.readOnly('/area')],
      executors: [createVirtualExecutor()],
    })
  })
  afterEach(() => workspace.close())

  it('[RU10] hold for each way to write, and leave the targets as they are', async () => {
    for (const attempt of attempts) {
      const { exitCode, stdout } = await workspace.exec(attempt)
      expect({ attempt, failed: exitCode !== 0, stdout: stdout.includes('secret') }).toEqual({
        attempt,
        failed: true,
        stdout: false,
      })
    }
    expect(await workspace.readText('/data/vs/tasks.json')).toBe('old\n')
    for (const [path, target] of Object.entries(links).filter(([path]) => path !== '/.env'))
      expect(await workspace.readSymlink(path)).toBe(target)
    const own = await workspace.exec(
      'cat real.env; echo y > data/vs/tasks.json; echo z > area/out/x; cp free area/out/y',
    )
    expect({ exitCode: own.exitCode, stdout: own.stdout, violations: own.violations }).toEqual({
      exitCode: 0,
      stdout: 'secret\n',
      violations: undefined,
    })
  })

  it('copies a file through a link that no rule names, as cp does', async () => {
    await workspace.exec('ln -s free l; ln -s out/x m; echo new > n; chmod 640 free')
    expect((await workspace.exec('cp n l && cat free && readlink l; cp -r m l && readlink l')).stdout).toBe(
      'new\nfree\nout/x\n',
    )
  })
})
