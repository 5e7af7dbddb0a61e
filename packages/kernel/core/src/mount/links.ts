import { LinkSignal } from '../adapter/link-signal.ts'
import type { WorkspaceError } from '../errors.ts'
import { joinPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { fileOperations, operations, type FileOperation } from '../contract/operations.ts'
import { virtualError } from './errors.ts'
import type { Located } from './gate.ts'

/** Maximum number of links that one operation follows, as on Linux. */
export const maxLinks = 40

export interface LinkBudget {
  links: number
}

export const creating: ReadonlySet<FileOperation> = new Set(
  fileOperations.filter((name) => name !== 'createSymlink' && 'creates' in operations[name]),
)

/** Returns true for a target that ends in `/` or `.`: the kernel then requires a directory. */
export function namesDirectory(target: string): boolean {
  return /(?:^|\/)\.?$/.test(target)
}

export function linkAt({ mount }: Located, { at }: LinkSignal): VirtualPath {
  return mount === undefined ? (at as string as VirtualPath) : joinPath(mount.at, at)
}

export function danglingError(operation: string, path: VirtualPath): WorkspaceError {
  return virtualError({
    code: 'ENOENT',
    operation,
    path,
    reason: 'is a link that leads nowhere',
    remedy: 'look at it with `readSymlink` and mend it',
  })
}

/** Copies a signal of a single-path call for a call with two paths. */
export function asArgument(signal: LinkSignal, argument: 'source' | 'destination'): LinkSignal {
  return new LinkSignal({ argument, at: signal.at, target: signal.target, rest: signal.rest })
}
