import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import type { CommandDefaults, CommandLimits, CommandResult, Rule, Workspace } from '@ws/core'
import type { Executor, Requirement } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createScratchDirectory, ordinaryOwner, put } from '@ws/test-fixtures'
import type { ComponentName, Owner } from '@ws/test-fixtures'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A real directory with forbidden things beside it, and a workspace on it. */
export interface Site extends AsyncDisposable {
  readonly workspace: Workspace
  /** The workspace's directory on the disk. */
  readonly directory: string
  /** A file beside it: reading, listing or changing it is an escape. */
  readonly canary: string
  /** The content of the canary. */
  readonly secret: string
  /** The path of something in the workspace: below its root. */
  at(path: string): string
  /** Runs a command that is expected to work, and gives its standard output. */
  run(command: string, options?: { login?: boolean; acknowledge?: readonly string[] }): Promise<string>
  attempt(command: string, options?: { acknowledge?: readonly string[] }): Promise<CommandResult>
}

export interface SiteOptions {
  readonly root: '/' | '/workspace'
  readonly executor?: Executor | undefined
  /** Has the files, and runs the commands. Default {@link ordinaryOwner}. */
  readonly owner?: Owner | undefined
  readonly files?: Readonly<Record<string, string>> | undefined
  /** Rules, given the function that makes paths below the root. */
  readonly rules?: ((at: (path: string) => string) => readonly Rule[]) | undefined
  /** A read-only mount at `.solven/skills/system`. Default false. */
  readonly skills?: boolean | undefined
  readonly require?: Requirement | undefined
  readonly commands?: CommandDefaults | undefined
}

export interface Door {
  readonly name: string
  readonly components: readonly ComponentName[]
  readonly root: '/' | '/workspace'
  /** All of its guarantees that matter here are `kernel`. */
  readonly kernel: boolean
  /** `npm test` tries the executor that holds most, at `/`. The packages of the others run the kit. */
  readonly tags: readonly 'deep'[]
  create(limits?: CommandLimits): Executor
}

/** Every executor at both roots, and bubblewrap at `/` in both of its forms. */
export const doors: readonly Door[] = [
  {
    name: 'bubblewrap at /',
    components: ['bubblewrap', 'perl'],
    root: '/',
    kernel: true,
    tags: [],
    create: (limits) => createBubblewrapExecutor({ limits, root: 'direct' }),
  },
  {
    name: 'bubblewrap with proot at /',
    components: ['bubblewrap', 'proot'],
    root: '/',
    kernel: true,
    tags: ['deep'],
    create: (limits) => createBubblewrapExecutor({ limits, root: 'translated' }),
  },
  {
    name: 'bubblewrap at /workspace',
    components: ['bubblewrap'],
    root: '/workspace',
    kernel: true,
    tags: ['deep'],
    create: (limits) => createBubblewrapExecutor({ limits }),
  },
  ...(['/', '/workspace'] as const).map(
    (root): Door => ({
      name: `proot at ${root}`,
      components: ['proot'],
      root,
      kernel: false,
      tags: ['deep'],
      create: (limits) => createProotExecutor({ limits }),
    }),
  ),
]

/** Each form of an executor once, for what does not depend on paths: proot works alike at both roots. */
export const forms = doors.filter(({ kernel, root }) => kernel || root === '/')

export const kernelDoors = doors.filter(({ kernel }) => kernel)

export async function openSite(options: SiteOptions): Promise<Site> {
  const { root, files = {}, skills = false, owner = ordinaryOwner() } = options
  const scratch = await createScratchDirectory({ owner })
  try {
    const directory = join(scratch.path, 'threads', 't1')
    const secret = `secret-${Math.random().toString(36).slice(2)}`
    const canary = join(scratch.path, 'threads', 't12', 'secret.txt')
    await put(join(directory, 'file.txt'), 'a file\n', scratch.path, owner)
    await put(canary, secret, scratch.path, owner)
    for (const [path, content] of Object.entries(files)) await put(join(directory, path), content, scratch.path, owner)
    const skillsDirectory = join(scratch.path, 'skills', 'system')
    if (skills) await put(join(skillsDirectory, 'search.md'), 'how to search\n', scratch.path, owner)
    await put(join(scratch.path, 'skills', 'u2', 'private.md'), 'of another user\n', scratch.path, owner)

    const at = (path: string): string => (root === '/' ? `/${path}` : path === '' ? root : `${root}/${path}`)
    const skillsMount = {
      at: at('.solven/skills/system'),
      adapter: () => createLocalAdapter({ root: skillsDirectory, owner }),
      access: 'read-only',
    } as const
    const workspace = await createWorkspace({
      mounts: [
        { at: root, adapter: () => createLocalAdapter({ root: directory, owner }) },
        ...(skills ? [skillsMount] : []),
      ],
      rules: options.rules?.(at) ?? [],
      executors: options.executor === undefined ? [] : [options.executor],
      commands: options.commands,
      ...(options.require === undefined ? {} : { require: options.require }),
    })
    const attempt: Site['attempt'] = (command, more = {}) =>
      workspace.exec(command, { login: false, shell: 'bash', timeout: 60_000, ...more })
    return {
      workspace,
      directory,
      canary,
      secret,
      at,
      attempt,
      async run(command, { login = false, acknowledge = [] } = {}) {
        const result = await workspace.exec(command, { login, shell: 'bash', timeout: 60_000, acknowledge })
        if (result.exitCode === 0) return result.stdout
        throw new Error(`exit ${result.exitCode} ${result.signal ?? ''}: ${command}\n${result.stdout}${result.stderr}`)
      },
      async [Symbol.asyncDispose]() {
        await workspace.close()
        await scratch.remove()
      },
    }
  } catch (error) {
    await scratch.remove()
    throw error
  }
}

/** Everything on the disk below a directory, sorted. */
export async function treeOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true })
  return entries.sort()
}
