import { createLocalAdapter } from '@ws/adapter-local'
import { mountRoot, parseMountPath, type MountPath, type Owner, type StorageAdapter } from '@ws/core/adapter'

import { diskDetails, diskNames, diskState, diskTree } from './disk.ts'

/** Files as they are stored, seen past every workspace, and adapters on them. Paths are `""` or start with a slash. */
export interface StoredFiles {
  /** Where it is on this machine: a host path. Absent where it is not. */
  readonly directory: string | undefined
  /** It holds symbolic links. */
  readonly links: boolean
  /** It tells a path below a file from one that is merely missing. */
  readonly hierarchy: boolean
  /** It holds names with control characters. */
  readonly controlCharacters: boolean
  /** An adapter on all of it, which the caller closes. */
  open(): Promise<StorageAdapter>
  /** Names of what is directly in a directory. */
  names(path?: string): Promise<string[]>
  /** Paths of everything. */
  tree(): Promise<string[]>
  /** Equal when nothing below was changed in name, kind or content. */
  state(path?: string): Promise<Record<string, string>>
  /** Equal when nothing was changed in permissions and times, as far as there are any. */
  details(): Promise<string>
}

/** A directory of this machine. */
export function storedInDirectory(directory: string, owner: Owner): StoredFiles {
  return {
    directory,
    links: true,
    hierarchy: true,
    controlCharacters: true,
    open: () => createLocalAdapter({ root: directory, owner }),
    names: (path = '') => diskNames(directory + path),
    tree: () => diskTree(directory),
    state: (path = '') => diskState(directory + path),
    details: () => diskDetails(directory),
  }
}

/** A store that is looked at with an adapter of its own, which is nobody else's and remembers nothing of what others do. */
export async function storedBehind(open: () => Promise<StorageAdapter>): Promise<StoredFiles & AsyncDisposable> {
  const adapter = await open()
  const list = async (path: string, recursive: boolean) => await Array.fromAsync(adapter.list(at(path), { recursive }))
  return {
    directory: adapter.hostPath?.(mountRoot),
    links: adapter.capabilities.symlinks,
    hierarchy: adapter.capabilities.enforcesHierarchy,
    controlCharacters: adapter.capabilities.controlCharacters,
    open,
    names: async (path = '') => (await list(path, false)).map((entry) => entry.path.slice(path.length + 1)),
    tree: async () => (await list('', true)).map((entry) => entry.path),
    async state(path = '') {
      const state: Record<string, string> = {}
      const { type } = await adapter.stat(at(path))
      const below = type === 'directory' ? await list(path, true) : [{ path: at(path), type }]
      for (const entry of below.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
        state[entry.path.slice(path.length)] = `${entry.type} ${await contentOf(adapter, entry)}`
      }
      return state
    },
    details: async () => (await list('', true)).map(({ path, version }) => `${path} ${version ?? ''}`).join('\n'),
    async [Symbol.asyncDispose]() {
      await adapter.close()
    },
  }
}

const at = (path: string): MountPath => parseMountPath(path === '' ? '/' : path)

async function contentOf(adapter: StorageAdapter, { path, type }: { path: MountPath; type: string }): Promise<string> {
  if (type === 'file') return Buffer.from((await adapter.read(path)).bytes).toString()
  return type === 'symlink' ? ((await adapter.readSymlink?.(path)) ?? '') : ''
}
