import { isWorkspaceError, paths, WorkspaceError, type Stat } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'

import { nest, type Node, type Nodes, type Tree } from './tree.ts'

type Listed = Pick<Stat, 'type'> & { readonly path: string }

export interface TreeSource {
  list(path: MountPath, options: { recursive: true }): AsyncIterable<Listed>
  read(path: MountPath): Promise<{ readonly bytes: Uint8Array; readonly stat: Stat }>
  readSymlink?: ((path: MountPath) => Promise<string>) | undefined
}

export interface TreeOptions {
  /** The directory to read. Default: the root. */
  readonly in?: string | undefined
  /** Include permission bits and times: each file is a {@link TreeEntry}. Default false. */
  readonly details?: boolean | undefined
}

const shapes: OptionShapes<TreeOptions> = { in: option.string, details: option.boolean }

/**
 * All readable files as a nested object, ordered by name. A file is a string if it is UTF-8, else bytes.
 * @throws WorkspaceError as `list` and `read` do
 */
export async function toTree(source: TreeSource, options: TreeOptions = {}): Promise<Tree> {
  checkOptions<TreeOptions>(options, shapes, { operation: 'toTree' })
  const root = paths.parseMount(options.in ?? '/', 'toTree')
  return nest(await readNodes(source, { root, details: options.details }), root)
}

interface ReadOptions {
  readonly root?: MountPath | undefined
  readonly details?: boolean | undefined
}

export async function readNodes(
  source: TreeSource,
  { root = paths.mountRoot, details = false }: ReadOptions = {},
): Promise<Nodes> {
  const listed: Listed[] = []
  for await (const entry of source.list(root, { recursive: true })) listed.push(entry)
  const nodes: Nodes = new Map()
  for (const entry of listed.toSorted(({ path: left }, { path: right }) => (left < right ? -1 : 1))) {
    const path = entry.path as MountPath
    try {
      nodes.set(path, await nodeAt(source, entry, path, details))
    } catch (error) {
      // a workspace lists entries that a rule denies: skip these. A denial by a store is a failure
      if (!isWorkspaceError(error) || error.rule === undefined) throw error
    }
  }
  return nodes
}

async function nodeAt(source: TreeSource, entry: Listed, path: MountPath, details: boolean): Promise<Node> {
  switch (entry.type) {
    case 'directory':
      return { type: 'directory' }
    case 'symlink':
      return { type: 'symlink', target: (await source.readSymlink?.(path)) ?? '' }
    case 'file': {
      const { bytes, stat } = await source.read(path)
      return details
        ? { type: 'file', content: bytes, mode: stat.mode, modifiedAt: stat.modifiedAt }
        : { type: 'file', content: bytes }
    }
    default: {
      const reason = `is of the type \`${entry.type}\`, which a tree cannot hold`
      throw new WorkspaceError({ code: 'ENOTSUP', operation: 'toTree', path, reason, remedy: 'remove it' })
    }
  }
}

export async function restore(store: StorageAdapter, wanted: Nodes): Promise<void> {
  const there = await readNodes(store, { details: true })
  for (const [path, { type }] of there) {
    const stays = wanted.get(path)?.type === type
    if (!stays) await store.delete(path, { recursive: true, force: true })
  }
  for (const [path, node] of wanted) {
    const old = there.get(path)
    const present = old?.type === node.type ? old : undefined
    if (node.type === 'directory') await store.createDirectory(path, { recursive: true })
    else if (node.type === 'symlink') await restoreLink(store, path, node, present)
    else await restoreFile(store, path, node, present)
  }
}

async function restoreLink(
  store: StorageAdapter,
  path: MountPath,
  { target }: { readonly target: string },
  present: Node | undefined,
): Promise<void> {
  if (present?.type === 'symlink' && present.target === target) return
  if (present !== undefined) await store.delete(path)
  if (store.createSymlink !== undefined) return void (await store.createSymlink(path, target))
  const remedy = 'leave links out, or use a store that has them'
  const reason = 'is a link, and the store has none'
  throw new WorkspaceError({ code: 'ENOTSUP', operation: 'createSymlink', path, reason, remedy })
}

async function restoreFile(
  store: StorageAdapter,
  path: MountPath,
  { content, mode, modifiedAt }: Extract<Node, { type: 'file' }>,
  present: Node | undefined,
): Promise<void> {
  const old = present?.type === 'file' ? present : undefined
  const same = old !== undefined && Buffer.compare(old.content, content) === 0
  if (!same) await store.write(path, content, { parents: true, mode })
  if (mode !== undefined && mode !== old?.mode && old !== undefined) await store.chmod?.(path, mode)
  if (modifiedAt !== undefined && !(same && old.modifiedAt === modifiedAt)) await store.utimes?.(path, { modifiedAt })
}
