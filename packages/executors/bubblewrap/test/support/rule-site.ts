import { chown, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Rule, type Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createScratchDirectory, type Owner, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach } from 'vitest'

import { createBubblewrapExecutor } from '../../src/index.ts'
import { formOf, isBelow, type Mode } from './workbench.ts'

/** A directory of an ordinary user for each test, and workspaces with rules over it, closed after it. */
export interface RuleSite {
  /** Host path of the directory. */
  readonly root: string
  /** The user that the directory belongs to. */
  readonly owner: Owner
  /** The virtual path of what lies at a path of the directory. */
  readonly at: (path: string) => string
  readonly give: (path: string) => Promise<void>
  /** Makes a directory, its parents too. */
  readonly directory: (path: string) => Promise<void>
  /** Writes a file; makes its directory. */
  readonly put: (path: string, content?: string) => Promise<void>
  readonly open: (...rules: Rule[]) => Promise<Workspace>
  readonly openWith: (executor: Executor, ...rules: Rule[]) => Promise<Workspace>
}

/** Registers what makes and removes a site around each test of the suite. */
export function useRuleSite(mode: Mode): RuleSite {
  let scratch: ScratchDirectory
  let root = ''
  let opened: Workspace[] = []
  const top = isBelow(mode) ? '/workspace' : '/'
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-rules-' })
    root = join(scratch.path, 'work')
    await mkdir(root)
    await give(root)
    opened = []
  })
  afterEach(async () => {
    for (const workspace of opened) await workspace.close()
    await scratch.remove()
  })

  async function give(path: string): Promise<void> {
    if (process.getuid?.() === 0) await chown(path, scratch.owner.uid, scratch.owner.gid)
  }
  async function directory(path: string): Promise<void> {
    let made = root
    for (const name of path.split('/')) {
      made = join(made, name)
      await mkdir(made, { recursive: true })
      await give(made)
    }
  }
  async function put(path: string, content = 'hush\n'): Promise<void> {
    if (dirname(path) !== '.') await directory(dirname(path))
    await writeFile(join(root, path), content)
    await give(join(root, path))
  }
  async function openWith(executor: Executor, ...rules: Rule[]): Promise<Workspace> {
    const workspace = await createWorkspace({
      mounts: [{ at: top, adapter: await createLocalAdapter({ root }) }],
      rules,
      executors: [executor],
      require: 'untrusted',
    })
    opened.push(workspace)
    return workspace
  }
  return {
    get root() {
      return root
    },
    get owner() {
      return scratch.owner
    },
    at: (path) => (isBelow(mode) ? top + path : path),
    give,
    directory,
    put,
    open: (...rules) => openWith(createBubblewrapExecutor(formOf(mode)), ...rules),
    openWith,
  }
}
