import { paths, WorkspaceError } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { checkOption, checkOptions, option, type OptionShapes } from '@ws/core/options'

/**
 * Files as a nested object: text and bytes are files, objects are directories; see also {@link file} and {@link link}.
 * A name may contain `/`: `{ 'src/a.ts': '' }` is `{ src: { 'a.ts': '' } }`.
 */
export interface Tree {
  readonly [name: string]: string | Uint8Array | TreeEntry | Tree
}

export interface FileDetails {
  readonly mode?: number | undefined
  /** Milliseconds since the epoch. */
  readonly modifiedAt?: number | undefined
}

/** A link, or a file with permission bits or times. Made by {@link link} and {@link file}. */
export class TreeEntry {
  readonly content?: string | Uint8Array
  readonly target?: string
  readonly mode?: number
  readonly modifiedAt?: number

  constructor({ content, target, mode, modifiedAt }: FileDetails & { content?: string | Uint8Array; target?: string }) {
    if (content !== undefined) this.content = content
    if (target !== undefined) this.target = target
    if (mode !== undefined) this.mode = mode
    if (modifiedAt !== undefined) this.modifiedAt = modifiedAt
  }
}

const content = option.of('a string or a Uint8Array', isContent)
const shapes: OptionShapes<FileDetails> = { mode: option.integer(0, 0o777), modifiedAt: option.integer(0) }

/** A file with permission bits or a time, for a {@link Tree}. @throws WorkspaceError `EINVAL` */
export function file(text: string | Uint8Array, details: FileDetails = {}): TreeEntry {
  checkOption('file', 'content', text, content)
  checkOptions<FileDetails>(details, shapes, { operation: 'file' })
  return new TreeEntry({ ...details, content: text })
}

/** A symbolic link, for a {@link Tree}. @throws WorkspaceError `EINVAL` for a blank target */
export function link(target: string): TreeEntry {
  checkOption('link', 'target', target, option.text)
  return new TreeEntry({ target })
}

export type Node =
  | { readonly type: 'directory' }
  | { readonly type: 'symlink'; readonly target: string }
  | ({ readonly type: 'file'; readonly content: Uint8Array } & FileDetails)

export type Nodes = Map<MountPath, Node>

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const directory: Node = { type: 'directory' }

/** @throws WorkspaceError `EINVAL` that names the entry; `EOUTSIDE` for `..` */
export function flatten(tree: Tree, operation: string): Nodes {
  const nodes: Nodes = new Map()
  checkOption(operation, 'tree', tree, option.of('a nested object of files', isDirectory))
  const add = (above: MountPath, given: Tree): void => {
    for (const [name, value] of Object.entries(given)) {
      const path = paths.parseMount(`${above === paths.mountRoot ? '' : above}/${name}`, operation)
      const node = nodeOf(path, value, operation)
      makeParents(nodes, path, operation)
      if (nodes.has(path) && (node.type !== 'directory' || nodes.get(path)?.type !== 'directory')) {
        throw invalid(operation, path, 'is given twice')
      }
      if (path !== paths.mountRoot) nodes.set(path, node)
      if (node.type === 'directory') add(path, value as Tree)
    }
  }
  add(paths.mountRoot, tree)
  return nodes
}

/** The reverse of {@link flatten}, with paths below `root`. A file is text if it is UTF-8. */
export function nest(nodes: Nodes, root: MountPath = paths.mountRoot): Tree {
  const tree: Tree = {}
  const directories = new Map<string, Tree>([[root, tree]])
  for (const [path, node] of nodes) {
    const value = shown(node)
    // a plain assignment would set the prototype for a file named `__proto__`
    Object.defineProperty(directories.get(paths.parent(path)), paths.baseName(path), { ...plain, value })
    if (node.type === 'directory') directories.set(path, value as Tree)
  }
  return tree
}

const plain = { enumerable: true, writable: true, configurable: true }

export function shown(node: Node): Tree[string] {
  if (node.type === 'directory') return {}
  if (node.type === 'symlink') return link(node.target)
  const { content: bytes, mode, modifiedAt } = node
  const read = decodeText(bytes) ?? bytes
  return mode === undefined && modifiedAt === undefined ? read : file(read, { mode, modifiedAt })
}

/** The text of UTF-8 bytes; `undefined` for other bytes. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

export function lay(under: Nodes, over: Nodes): Nodes {
  const all: Nodes = new Map(under)
  for (const [path, node] of over) {
    if (node.type === 'directory' && all.get(path)?.type === 'directory') continue
    for (const other of all.keys()) if (other.startsWith(`${path}/`)) all.delete(other)
    all.set(path, node)
  }
  return new Map([...all].toSorted(([left], [right]) => paths.segmentsOf(left).length - paths.segmentsOf(right).length))
}

export function makeParents(nodes: Nodes, path: MountPath, operation: string): void {
  if (path === paths.mountRoot) return
  const parent = paths.parent(path) as MountPath
  if (parent === paths.mountRoot) return
  makeParents(nodes, parent, operation)
  const node = nodes.get(parent)
  if (node === undefined) nodes.set(parent, directory)
  else if (node.type !== 'directory') throw invalid(operation, path, 'lies below a file')
}

function nodeOf(path: MountPath, value: unknown, operation: string): Node {
  if (isContent(value)) return { type: 'file', content: bytesOf(value) }
  if (value instanceof TreeEntry) {
    const { target, content: text = '', mode, modifiedAt } = value
    return target === undefined
      ? { type: 'file', content: bytesOf(text), mode, modifiedAt }
      : { type: 'symlink', target }
  }
  if (isDirectory(value)) return directory
  throw invalid(operation, path, 'must be text, bytes, `file(…)`, `link(…)` or an object of those')
}

export function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? encoder.encode(text) : text
}

function isContent(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array
}

function isDirectory(value: unknown): value is Tree {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function invalid(operation: string, path: MountPath, reason: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason, remedy: 'correct the tree' })
}
