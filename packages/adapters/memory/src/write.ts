import { WorkspaceError, type WriteResult } from '@ws/core'
import { LinkSignal, type MountPath, type AdapterOptions } from '@ws/core/adapter'
import { failure } from './errors.ts'
import type { Node } from './node.ts'
import { checkCondition } from './transfer.ts'
import { type Lookup, type Tree, typeError } from './tree.ts'

type AppendOptions = AdapterOptions.Append

export function prepareWrite(
  tree: Tree,
  path: MountPath,
  { ifVersion, parents = false }: Pick<AdapterOptions.Write, 'ifVersion' | 'parents'>,
  operation = 'write',
): Lookup {
  const place = tree.locate(path, { operation, follow: ifVersion !== 'absent' })
  checkCondition(place, ifVersion, operation, path)
  const { entry, missing } = place
  if (entry !== undefined && entry.type !== 'file') throw typeError(entry.type, operation, path)
  if (missing.length > 1 && !parents) throw failure('noParent', operation, path)
  return place
}

/** Writes at the place `checked`. Without `checked`, looks the path up and checks it again. */
export function writeBytes(
  tree: Tree,
  path: MountPath,
  checked: Lookup | undefined,
  bytes: Uint8Array,
  options: AdapterOptions.Write,
): WriteResult {
  const file = fileAt(tree, checked ?? prepareAgain(tree, path, options), options.mode)
  const written = tree.setContent(file, bytes)
  if (options.modifiedAt === undefined) return { version: written.version, size: bytes.length }
  const { version, modifiedAt } = tree.setTime(written, Math.trunc(options.modifiedAt))
  return { version, size: bytes.length, modifiedAt }
}

/** Repeats the checks after the body was read. A new link on the path cannot be signalled, because the body cannot be read twice. */
function prepareAgain(tree: Tree, path: MountPath, options: AdapterOptions.Write): Lookup {
  try {
    return prepareWrite(tree, path, options)
  } catch (error) {
    if (!(error instanceof LinkSignal)) throw error
    const reason = 'changed while its new content was read'
    throw new WorkspaceError({ code: 'EBUSY', operation: 'write', path, reason, remedy: 'try again' })
  }
}

export function appendBytes(tree: Tree, path: MountPath, bytes: Uint8Array, options: AppendOptions): WriteResult {
  const { version, size } = tree.append(fileAt(tree, prepareWrite(tree, path, options, 'append'), undefined), bytes)
  return { version, size }
}

function fileAt(tree: Tree, { directory, missing, entry }: Lookup, mode = 0o644): Node {
  if (entry !== undefined) return entry
  const parent = tree.createDirectories(directory, missing.slice(0, -1))
  return tree.create(parent, missing.at(-1) ?? '', 'file', mode)
}
