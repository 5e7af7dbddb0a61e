import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, paths, type Rule, type VirtualPath, type Workspace } from '@ws/core'
import type { Bind, BindPlan, HostPath } from '@ws/core/executor'
import { createScratchDirectory, give, type ScratchDirectory } from '@ws/test-fixtures'

import { createSandboxRuntimeExecutor, type SandboxRuntimeExecutorOptions } from '@ws/executor-sandbox-runtime'

const executor = createSandboxRuntimeExecutor()

/** Opens a site whose executor has options. */
export async function openWith(options: SandboxRuntimeExecutorOptions): Promise<Site> {
  return await Site.open({}, undefined, { executors: [createSandboxRuntimeExecutor(options)] })
}

/** A workspace at the own path of its directory, and a directory around it. */
export class Site implements AsyncDisposable {
  readonly workspace: Workspace
  readonly root: string
  readonly scratch: ScratchDirectory

  private constructor(workspace: Workspace, root: string, scratch: ScratchDirectory) {
    this.workspace = workspace
    this.root = root
    this.scratch = scratch
  }

  static async open(
    files: Readonly<Record<string, string>>,
    rules: (at: (path: string) => string) => readonly Rule[] = () => [],
    more: Partial<Parameters<typeof createWorkspace>[0]> = {},
  ): Promise<Site> {
    const scratch = await createScratchDirectory()
    const root = await scratch.createDirectory('ws')
    for (const [path, content] of Object.entries(files)) await put(join(root, path), content)
    const { owner } = scratch
    const mounts = [{ at: root, adapter: () => createLocalAdapter({ root, owner }) }]
    try {
      const all = rules((path) => join(root, path))
      const workspace = await createWorkspace({ mounts, rules: all, executors: [executor], ...more })
      return new Site(workspace, root, scratch)
    } catch (error) {
      await scratch.remove()
      throw error
    }
  }

  /** Runs a command, and returns its status and output. */
  async run(command: string, options: Parameters<Workspace['exec']>[1] = {}): Promise<string> {
    const { exitStatus, output } = await this.workspace.exec(command, { shell: 'sh', login: false, ...options })
    return `${exitStatus} ${output.replaceAll(this.scratch.path, 'BESIDE')}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workspace.close()
    await this.scratch.remove()
  }
}

export async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  give(dirname(path))
  await writeFile(path, content)
  give(path)
}

export interface BindOptions {
  readonly at: string
  readonly kind?: Bind['kind']
  readonly source?: string
  readonly type?: Bind['type']
  readonly access?: Bind['access']
}

/** A plan with its root at the path of the first bind. */
export function planOf(...binds: readonly BindOptions[]): BindPlan {
  const all = binds.map(({ at, kind = 'mount', type = 'directory', access = 'read-write', source = at }): Bind => {
    const own = access === 'none' ? undefined : (source as HostPath)
    return { kind, at: paths.parseVirtual(at), type, access, source: own, rules: ['the rule'] }
  })
  return { root: all[0]?.at ?? ('/' as VirtualPath), binds: all, aliases: [], restrictions: [], renameBorders: [] }
}
