import { paths } from '@ws/core'
import { LinkSignal, type MountPath } from '@ws/core/adapter'

import { failure } from './errors.ts'
import type { MemoryAdapterOptions, MemoryEntry } from './options.ts'
import { MemoryTree } from './memory-tree.ts'
import type { Node } from './node.ts'
import type { Tree } from './tree.ts'

const operation = 'createMemoryAdapter'
const encoder = new TextEncoder()

export function seed(files: NonNullable<MemoryAdapterOptions['files']>, now?: MemoryAdapterOptions['now']): Tree {
  const tree: Tree = new MemoryTree(now)
  const times: (() => unknown)[] = []
  for (const [given, value] of Object.entries(files)) {
    const path = paths.parseMount(given, operation)
    const entry: MemoryEntry = typeof value === 'string' || value instanceof Uint8Array ? { content: value } : value
    const made = make(tree, path, entry, given.endsWith('/'))
    const { modifiedAt } = entry
    if (modifiedAt !== undefined) times.push(() => tree.setTime(made, modifiedAt))
  }
  // Times are set last, since a directory's time changes with its entries.
  for (const setTime of times) setTime()
  return tree
}

function make(tree: Tree, path: MountPath, entry: MemoryEntry, isDirectory: boolean): Node {
  try {
    return isDirectory ? makeDirectory(tree, path, entry) : makeEntry(tree, path, entry)
  } catch (error) {
    if (error instanceof LinkSignal) throw failure('ENOTDIR', operation, path)
    throw error
  }
}

function makeDirectory(tree: Tree, path: MountPath, { mode }: MemoryEntry): Node {
  const { directory, missing, entry } = tree.locate(path, { operation })
  if (entry !== undefined && entry.type !== 'directory') throw failure('EEXIST', operation, path)
  const made = entry ?? tree.createDirectories(directory, missing)
  if (mode !== undefined) tree.setMode(made, mode)
  return made
}

function makeEntry(tree: Tree, path: MountPath, { content = '', target, mode = 0o644 }: MemoryEntry): Node {
  const { directory, missing, entry } = tree.locate(path, { operation })
  const name = missing.at(-1)
  if (entry !== undefined || name === undefined) {
    throw failure(entry?.type === 'directory' ? 'EISDIR' : 'EEXIST', operation, path)
  }
  const parent = tree.createDirectories(directory, missing.slice(0, -1))
  if (target !== undefined) return tree.createLink(parent, name, target)
  const made = tree.create(parent, name, 'file', mode)
  return tree.setContent(made, typeof content === 'string' ? encoder.encode(content) : content)
}
