import { createLocalAdapter } from '@ws/adapter-local'
import { type CommandResult, createWorkspace, isWorkspaceError, type Rule, type Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createScratchDirectory, makeDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { chown, lchown, lstat, readdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export const asRoot = process.getuid?.() === 0
export const owner = ordinaryOwner()
export const secret = 'canary-of-the-host'

export interface Site extends AsyncDisposable {
  readonly workspace: Workspace
  /** The workspace's directory on the disk. */
  readonly directory: string
  /** The surroundings: a canary, and a directory whose name begins like the workspace's. */
  readonly outside: string
  run(command: string, options?: Parameters<Workspace['exec']>[1]): Promise<CommandResult>
  /** The refusal of a command. */
  refusal(command: string, options?: Parameters<Workspace['exec']>[1]): Promise<{ code: string; message: string }>
}

export interface SiteOptions {
  readonly executor: Executor
  readonly root?: '/' | '/workspace'
  readonly files?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
  readonly rules?: readonly Rule[]
  /** A second mount, from a directory of its own. */
  readonly mount?: {
    readonly at: string
    readonly access?: 'read-only' | 'read-write'
    readonly files: Readonly<Record<string, string>>
  }
  readonly name?: string
}

export async function openSite(options: SiteOptions): Promise<Site> {
  const { root = '/', files = {}, links = {}, rules = [] } = options
  const scratch = await createScratchDirectory({ owner })
  try {
    const directory = join(scratch.path, options.name ?? 'ws')
    await makeDirectory(directory)
    await put(join(scratch.path, 'secret.txt'), `${secret}\n`)
    await put(join(scratch.path, 'ws2', 'secret.txt'), `${secret}\n`)
    for (const [path, content] of Object.entries(files)) await put(join(directory, path), content)
    for (const [path, target] of Object.entries(links)) await link(target, join(directory, path))
    const { mount } = options
    if (mount !== undefined) {
      await makeDirectory(join(scratch.path, 'mounted'))
      for (const [path, content] of Object.entries(mount.files)) await put(join(scratch.path, 'mounted', path), content)
    }
    const workspace = await createWorkspace({
      mounts: [
        { at: root, adapter: () => createLocalAdapter({ root: directory, owner }) },
        ...(mount === undefined
          ? []
          : [
              {
                at: mount.at,
                adapter: () => createLocalAdapter({ root: join(scratch.path, 'mounted'), owner }),
                access: mount.access ?? 'read-write',
              },
            ]),
      ],
      rules,
      executors: [options.executor],
    })
    const run: Site['run'] = (command, more = {}) =>
      workspace.exec(command, { login: false, shell: 'bash', timeout: 30_000, ...more })
    return {
      workspace,
      directory,
      outside: scratch.path,
      run,
      async refusal(command, more) {
        try {
          const result = await run(command, more)
          return { code: 'ran', message: JSON.stringify(result) }
        } catch (error) {
          if (!isWorkspaceError(error)) throw error
          return { code: error.code, message: error.message }
        }
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

// Long ago and the same everywhere, so that listings with times agree.
const time = new Date('2024-03-04T05:06:07Z')

export async function put(path: string, content: string): Promise<void> {
  await makeDirectory(dirname(path))
  await writeFile(path, content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
  if (asRoot) await chown(path, owner.uid, owner.gid)
  await utimes(path, time, time)
}

export async function link(target: string, path: string): Promise<void> {
  await makeDirectory(dirname(path))
  await symlink(target, path)
  if (asRoot) await lchown(path, owner.uid, owner.gid)
}

/** Everything below a directory: modes, link targets and contents. */
export async function treeOf(directory: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {}
  for (const path of (await readdir(directory, { recursive: true })).sort()) {
    const full = join(directory, path)
    const stat = await lstat(full)
    const mode = (stat.mode & 0o777).toString(8)
    if (stat.isSymbolicLink()) tree[path] = `link ${await readlink(full)}`
    else if (stat.isDirectory()) tree[path] = `directory ${mode}`
    else tree[path] = stat.isFile() ? `file ${mode} ${(await readFile(full)).toString('latin1')}` : `other ${mode}`
  }
  return tree
}
