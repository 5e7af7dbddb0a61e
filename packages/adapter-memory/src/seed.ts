import { LinkSignal, type MountPath, parseMountPath } from '@ws/core/adapter'

import { failure } from './errors.ts'
import type { MemoryAdapterOptions, MemoryEntry } from './options.ts'
import type { Node } from './node.ts'
import { MemoryTree } from './tree.ts'

const operation = 'createMemoryAdapter'
const encoder = new TextEncoder()

/** The tree that `files` describe. @throws WorkspaceError `EINVAL`, `ENOTDIR`, `EISDIR`, `EEXIST` */
export function seed(files: NonNullable<MemoryAdapterOptions['files']>, now?: MemoryAdapterOptions['now']): MemoryTree {
  const tree = new MemoryTree(now)
  const times: (() => void)[] = []
  for (const [given, value] of Object.entries(files)) {
    const path = parseMountPath(given, operation)
    const entry: MemoryEntry = typeof value === 'string' || value instanceof Uint8Array ? { content: value } : value
    const made = make(tree, path, entry, given.endsWith('/'))
    const { modifiedAt } = entry
    if (modifiedAt !== undefined) times.push(() => (made.modifiedAt = modifiedAt))
  }
  // Last, since a directory's own time changes with its entries.
  for (const setTime of times) setTime()
  return tree
}

function make(tree: MemoryTree, path: MountPath, entry: MemoryEntry, isDirectory: boolean): Node {
  try {
    return isDirectory ? makeDirectory(tree, path, entry) : makeEntry(tree, path, entry)
  } catch (error) {
    if (error instanceof LinkSignal) throw failure('ENOTDIR', operation, path)
    throw error
  }
}

function makeDirectory(tree: MemoryTree, path: MountPath, { mode }: MemoryEntry): Node {
  const { directory, missing, entry } = tree.locate(path, { operation })
  if (entry !== undefined && !entry.isDirectory) throw failure('EEXIST', operation, path)
  const made = entry ?? tree.createDirectories(directory, missing)
  if (mode === undefined) return made
  made.mode = mode
  tree.stamp(made)
  return made
}

function makeEntry(tree: MemoryTree, path: MountPath, { content = '', target, mode = 0o644 }: MemoryEntry): Node {
  const { directory, missing, entry } = tree.locate(path, { operation })
  const name = missing.at(-1)
  if (entry !== undefined || name === undefined) {
    throw failure(entry?.isDirectory === true ? 'EISDIR' : 'EEXIST', operation, path)
  }
  const parent = tree.createDirectories(directory, missing.slice(0, -1))
  if (target !== undefined) return tree.createLink(parent, name, target)
  const made = tree.create(parent, name, 'file', mode)
  tree.setContent(made, typeof content === 'string' ? encoder.encode(content) : content)
  return made
}
