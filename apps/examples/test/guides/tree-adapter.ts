import { paths, type Stat, WorkspaceError } from '@ws/core'
import { checkReadSize, collect, type Condition, contractError, defineAdapter } from '@ws/core/adapter'
import type { Driver, DriverCapabilities, DriverOptions } from '@ws/core/adapter'
import { LinkSignal } from '@ws/core/adapter'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'

const capabilities: DriverCapabilities = {
  readOnly: false,
  ...{ atomicMove: true, atomicDirectoryMove: true, enforcesHierarchy: true, keepsEmptyDirectories: true },
  ...{ conditionalWrite: 'server', conditionalDelete: 'server', conditionalMove: 'server', uniqueVersions: true },
  ...{ modes: false, caseSensitive: true, controlCharacters: true, confinement: 'inherent' },
  ...{ maxStaleness: 0, maxNameBytes: paths.maxNameBytes, maxPathBytes: paths.maxPathBytes },
}

/** A file has bytes, a link has a target, a directory has neither. */
interface Node {
  readonly bytes?: Uint8Array | undefined
  readonly target?: string | undefined
  readonly modifiedAt: number
  readonly version: string
}

/** A tree of files, directories and links in a `Map`, in which each change is one step. */
export function createTreeAdapter(): StorageAdapter {
  let issued = 0
  const node = (content: Partial<Node> = {}): Node => ({ modifiedAt: Date.now(), ...content, version: `v${issued++}` })
  const nodes = new Map<MountPath, Node>([[paths.mountRoot, node()]])
  const below = (path: MountPath) => [...nodes.keys()].filter((one) => one !== path && paths.isWithin(one, path))

  /** The node at a path, and the directories above it that are missing. */
  const look = (operation: string, path: MountPath, follow = false, argument?: LinkSignal['argument']) => {
    const missing: MountPath[] = []
    let at = paths.mountRoot
    const names = paths.segmentsOf(path)
    for (const [index, name] of names.entries()) {
      at = paths.child(at, name)
      const [found, isLast] = [nodes.get(at), index === names.length - 1]
      if (found?.target !== undefined && (!isLast || follow)) {
        throw new LinkSignal({ argument, at, target: found.target, rest: names.slice(index + 1).join('/') })
      }
      if (found?.bytes !== undefined && !isLast) throw contractError('ENOTDIR', operation, path)
      if (found === undefined && !isLast) missing.push(at)
    }
    return { found: nodes.get(path), missing }
  }
  const find = (operation: string, path: MountPath, follow = false, argument?: LinkSignal['argument']): Node => {
    const { found } = look(operation, path, follow, argument)
    if (found === undefined) throw contractError('ENOENT', operation, path)
    return found
  }
  const hold = (operation: string, path: MountPath, condition: Condition | undefined): void => {
    if (condition === undefined || (nodes.get(path)?.version ?? 'absent') === condition) return
    throw contractError('ECONFLICT', operation, path)
  }
  const make = (directories: readonly MountPath[]) => directories.forEach((one) => nodes.set(one, node()))

  /** Checks a move or a copy. Nothing has happened when it throws. */
  const transferable = (operation: 'move' | 'copy', from: MountPath, to: MountPath, options: DriverOptions.Copy) => {
    if (from !== to && to === paths.mountRoot) throw contractError('EBUSY', operation, to)
    const found = find(operation, from, false, 'source')
    hold(operation, from, options.ifSource)
    if (from !== to && paths.isWithin(to, from) && isDirectory(found)) throw contractError('intoItself', operation, to)
    const { missing, found: there } = look(operation, to, false, 'destination')
    hold(operation, to, options.ifDestination)
    if (missing.length > 0 && !options.parents) throw contractError('noParent', operation, to)
    if (from === to) return { sources: [], missing }
    if (there !== undefined && !options.overwrite) throw contractError('EEXIST', operation, to)
    const sources = [from, ...below(from)].map(
      (path) => [path, `${to}${path.slice(from.length)}` as MountPath] as const,
    )
    for (const [path, target] of sources) {
      const [source, replaced] = [nodes.get(path), nodes.get(target)]
      if (replaced === undefined || isDirectory(source) === isDirectory(replaced)) continue
      throw contractError(isDirectory(replaced) ? 'directoryInTheWay' : 'fileInTheWay', operation, target)
    }
    return { sources, missing }
  }

  const driver: Driver = {
    name: 'tree',
    capabilities,
    stat: async (path) => statOf(find('stat', path)),
    async read(path, { range: { offset = 0, length = Infinity } = {}, ifVersion, maxBytes }) {
      const found = find('read', path, true)
      if (found.bytes === undefined) throw contractError('EISDIR', 'read', path)
      hold('read', path, ifVersion)
      const bytes = found.bytes.slice(offset, offset + length)
      checkReadSize('read', path, bytes.length, maxBytes)
      return { bytes, stat: statOf(found) }
    },
    async write(path, data, { ifVersion, parents, signal }) {
      const check = (): readonly MountPath[] => {
        const { found, missing } = look('write', path, ifVersion !== 'absent')
        hold('write', path, ifVersion)
        if (found !== undefined && found.bytes === undefined) throw contractError('EISDIR', 'write', path)
        if (missing.length > 0 && !parents) throw contractError('noParent', 'write', path)
        return missing
      }
      check() // before a byte of the body is read, and again after it: the tree went on meanwhile
      const bytes = await collect(data)
      signal?.throwIfAborted()
      try {
        make(check())
      } catch (error) {
        throw error instanceof LinkSignal ? changed(path) : error
      }
      const written = node({ bytes })
      nodes.set(path, written)
      return { version: written.version, size: bytes.length }
    },
    async *list(path, { recursive, exclude }) {
      if (!isDirectory(find('list', path, true))) throw contractError('ENOTDIR', 'list', path)
      for (const at of below(path).sort()) {
        const above = paths.parent(at)
        const found = nodes.get(at)
        const isEntered = above === path || (recursive && !exclude.some((one) => paths.isWithin(above, one)))
        if (found === undefined || !isEntered || exclude.some((one) => paths.isWithin(path, one))) continue
        yield { path: at, name: paths.baseName(at), ...statOf(found) }
      }
    },
    async createDirectory(path, { recursive }) {
      const { found, missing } = look('createDirectory', path, recursive)
      if (found !== undefined && recursive && isDirectory(found)) return
      if (found !== undefined) throw contractError('EEXIST', 'createDirectory', path)
      if (missing.length > 0 && !recursive) throw contractError('noParent', 'createDirectory', path)
      make([...missing, path])
    },
    async delete(path, { recursive, force, ifVersion }) {
      if (look('delete', path).found === undefined && force) return
      find('delete', path)
      hold('delete', path, ifVersion)
      if (below(path).length > 0 && !recursive) throw contractError('ENOTEMPTY', 'delete', path)
      for (const one of [...below(path), path]) nodes.delete(one)
    },
    async move(source, destination, options) {
      const { sources, missing } = transferable('move', source, destination, { ...options, recursive: true })
      if (source !== destination && below(destination).length > 0) throw contractError('ENOTEMPTY', 'move', destination)
      // From here on nothing is awaited, so that the move is one step.
      make(missing)
      for (const [path, target] of sources) {
        nodes.set(target, node(nodes.get(path)))
        nodes.delete(path)
      }
      return { version: find('move', destination).version }
    },
    async copy(source, destination, options) {
      const { sources, missing } = transferable('copy', source, destination, options)
      if (source === destination) throw contractError('ontoItself', 'copy', destination)
      if (isDirectory(nodes.get(source)) && !options.recursive) throw contractError('EISDIR', 'copy', source)
      make(missing)
      const copies = sources.map(([path, target]) => [target, nodes.get(path)] as const)
      for (const [target, one] of copies) {
        if (!isDirectory(one) || !nodes.has(target)) nodes.set(target, node({ bytes: one?.bytes, target: one?.target }))
      }
      return { version: find('copy', destination).version }
    },
    async createSymlink(path, target) {
      const { found, missing } = look('createSymlink', path)
      if (found !== undefined) throw contractError('EEXIST', 'createSymlink', path)
      if (missing.length > 0) throw contractError('noParent', 'createSymlink', path)
      nodes.set(path, node({ target }))
    },
    async readSymlink(path) {
      const { target } = find('readSymlink', path)
      if (target === undefined) throw contractError('notALink', 'readSymlink', path)
      return target
    },
  }
  return defineAdapter(driver)
}

function isDirectory(one: Node | undefined): boolean {
  return one !== undefined && one.bytes === undefined && one.target === undefined
}

function statOf({ bytes, target, modifiedAt, version }: Node): Stat {
  const type = bytes !== undefined ? 'file' : target !== undefined ? 'symlink' : 'directory'
  return { type, size: bytes?.length ?? 0, modifiedAt, version }
}

/** A link that came while the body was read: the body is gone, so that the workspace cannot go on at the target. */
function changed(path: MountPath): WorkspaceError {
  const reason = 'changed while its new content was read'
  return new WorkspaceError({ code: 'EBUSY', operation: 'write', path, reason, remedy: 'try again' })
}
