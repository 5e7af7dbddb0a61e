import type { Workspace } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'

export interface HostileOperation<Target> {
  readonly name: string
  /** The content that it leaves at the path, if it writes. */
  readonly writes?: string
  run(target: Target, path: string): unknown
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const inside = '/file.txt' as MountPath
const elsewhere = '/moved' as MountPath

/** Every operation of an adapter, with any value as its path. */
export const adapterOperations: readonly HostileOperation<StorageAdapter>[] = [
  { name: 'stat', run: (adapter, path) => adapter.stat(path as MountPath) },
  { name: 'read', run: (adapter, path) => adapter.read(path as MountPath) },
  { name: 'readStream', run: (adapter, path) => adapter.readStream(path as MountPath) },
  { name: 'list', run: (adapter, path) => adapter.list(path as MountPath) },
  {
    name: 'list recursive',
    run: (adapter, path) => adapter.list(path as MountPath, { recursive: true, details: true }),
  },
  { name: 'search', run: (adapter, path) => adapter.search?.({ pattern: '.', regex: true, in: path as MountPath }) },
  { name: 'readSymlink', run: (adapter, path) => adapter.readSymlink?.(path as MountPath) },
  { name: 'hostDirectory', run: async (adapter, path) => void (await adapter.hostDirectory?.(path as MountPath)) },
  {
    name: 'write absent',
    writes: 'absent',
    run: (adapter, path) => adapter.write(path as MountPath, bytes('absent'), { ifVersion: 'absent', parents: true }),
  },
  { name: 'write', writes: 'written', run: (adapter, path) => adapter.write(path as MountPath, bytes('written')) },
  {
    name: 'write with parents',
    writes: 'parents',
    run: (adapter, path) => adapter.write(path as MountPath, bytes('parents'), { parents: true }),
  },
  { name: 'append', run: (adapter, path) => adapter.append?.(path as MountPath, bytes('+')) },
  { name: 'chmod', run: (adapter, path) => adapter.chmod?.(path as MountPath, 0o755) },
  { name: 'utimes', run: (adapter, path) => adapter.utimes?.(path as MountPath, { modifiedAt: 1_000 }) },
  { name: 'createDirectory', run: (adapter, path) => adapter.createDirectory(path as MountPath) },
  {
    name: 'createDirectory recursive',
    run: (adapter, path) => adapter.createDirectory(path as MountPath, { recursive: true }),
  },
  { name: 'createSymlink', run: (adapter, path) => adapter.createSymlink?.(path as MountPath, 'file.txt') },
  { name: 'copy to', run: (adapter, path) => adapter.copy(inside, path as MountPath, { overwrite: true }) },
  {
    name: 'copy from',
    run: (adapter, path) =>
      adapter.copy(path as MountPath, '/copied' as MountPath, { recursive: true, overwrite: true }),
  },
  { name: 'move from', run: (adapter, path) => adapter.move(path as MountPath, elsewhere, { overwrite: true }) },
  {
    name: 'move to',
    run: (adapter, path) => adapter.move(elsewhere, path as MountPath, { overwrite: true, parents: true }),
  },
  { name: 'delete', run: (adapter, path) => adapter.delete(path as MountPath) },
  { name: 'delete recursive', run: (adapter, path) => adapter.delete(path as MountPath, { recursive: true }) },
  {
    name: 'delete by force',
    run: (adapter, path) => adapter.delete(path as MountPath, { recursive: true, force: true }),
  },
]

/** Every operation of a workspace that takes a path. */
export const workspaceOperations: readonly HostileOperation<Workspace>[] = [
  { name: 'stat', run: (workspace, path) => workspace.stat(path) },
  { name: 'exists', run: (workspace, path) => workspace.exists(path) },
  { name: 'stat, following', run: (workspace, path) => workspace.stat(path, { followLinks: true }) },
  { name: 'realPath', run: (workspace, path) => workspace.realPath(path) },
  { name: 'read', run: (workspace, path) => workspace.read(path) },
  { name: 'read the end', run: (workspace, path) => workspace.read(path, { range: { last: 9 } }) },
  { name: 'readText', run: (workspace, path) => workspace.readText(path) },
  { name: 'readLines', run: (workspace, path) => workspace.readLines(path) },
  { name: 'readStream', run: (workspace, path) => workspace.readStream(path) },
  { name: 'list', run: (workspace, path) => workspace.list(path) },
  { name: 'list recursive', run: (workspace, path) => workspace.list(path, { recursive: true, details: true }) },
  { name: 'glob', run: (workspace, path) => workspace.glob('*', { in: path }) },
  { name: 'glob by it', run: (workspace, path) => workspace.glob(path, { in: 'dir' }) },
  { name: 'glob without it', run: (workspace, path) => workspace.glob('*', { exclude: [path] }) },
  { name: 'search', run: (workspace, path) => workspace.search('.', { in: path, regex: true }) },
  { name: 'search for it', run: (workspace, path) => workspace.search(path, { in: 'dir', regex: true }) },
  { name: 'search by it', run: (workspace, path) => workspace.search('x', { in: 'dir', regex: true, glob: path }) },
  {
    name: 'search without it',
    run: (workspace, path) => workspace.search('x', { in: 'dir', regex: true, exclude: [path] }),
  },
  { name: 'list without it', run: (workspace, path) => workspace.list('/', { recursive: true, exclude: [path] }) },
  { name: 'readSymlink', run: (workspace, path) => workspace.readSymlink(path) },
  { name: 'explain', run: (workspace, path) => workspace.explain({ operation: 'write', path }).then(() => undefined) },
  {
    name: 'write absent',
    writes: 'absent',
    run: (workspace, path) => workspace.write(path, 'absent', { ifVersion: 'absent' }),
  },
  { name: 'write', writes: 'written', run: (workspace, path) => workspace.write(path, 'written', { parents: false }) },
  { name: 'write with parents', writes: 'parents', run: (workspace, path) => workspace.write(path, 'parents') },
  { name: 'append', run: (workspace, path) => workspace.append(path, '+') },
  { name: 'edit', run: (workspace, path) => workspace.edit(path, { oldText: 'x', newText: 'x' }, { timeout: 20 }) },
  { name: 'chmod', run: (workspace, path) => workspace.chmod(path, 0o755) },
  { name: 'utimes', run: (workspace, path) => workspace.utimes(path, { modifiedAt: 1_000 }) },
  { name: 'createDirectory', run: (workspace, path) => workspace.createDirectory(path) },
  { name: 'createSymlink', run: (workspace, path) => workspace.createSymlink(path, 'file.txt') },
  { name: 'copy to', run: (workspace, path) => workspace.copy('file.txt', path, { overwrite: true }) },
  { name: 'copy from', run: (workspace, path) => workspace.copy(path, 'copied', { overwrite: true }) },
  { name: 'move from', run: (workspace, path) => workspace.move(path, 'moved', { overwrite: true }) },
  { name: 'move to', run: (workspace, path) => workspace.move('moved', path, { overwrite: true }) },
  { name: 'delete', run: (workspace, path) => workspace.delete(path) },
  { name: 'delete recursive', run: (workspace, path) => workspace.delete(path, { recursive: true }) },
  { name: 'delete by force', run: (workspace, path) => workspace.delete(path, { recursive: true, force: true }) },
  // a link to it, and then through the link
  { name: 'link to it', run: (workspace, path) => workspace.createSymlink('to', path) },
  { name: 'stat through a link', run: (workspace) => workspace.stat('to/x') },
  { name: 'realPath through a link', run: (workspace) => workspace.realPath('to') },
  { name: 'read through a link', run: (workspace) => workspace.read('to') },
  { name: 'list through a link', run: (workspace) => workspace.list('to') },
  { name: 'write through a link', writes: 'linked', run: (workspace) => workspace.write('to', 'linked') },
  { name: 'write below a link', writes: 'below', run: (workspace) => workspace.write('to/a/b', 'below') },
]
