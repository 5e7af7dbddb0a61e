import type { MountPath } from '@ws/core/adapter'

import { isReserved } from '../confine/reserved.ts'
import type { Tree } from '../confine/tree.ts'
import type { ImmediateCalls, PlainCalls, Status } from '../host/calls.ts'
import { anyEntry, reading, smallBytes } from '../host/constants.ts'
import { pathOfDescriptor } from '../host/descriptor.ts'

/** The status of an entry, if that takes no waiting. `undefined`: the thorough way finds it, with the same checks. */
export function statusAtOnce(tree: Tree, calls: ImmediateCalls, path: MountPath): Status | undefined {
  return calls.together((plain) => withEntry(tree, plain, path, (_fd, status) => status))
}

export interface SmallFile {
  readonly bytes: Uint8Array
  readonly status: Status
}

/** The whole content of a small regular file; `undefined` as above, and for everything else. */
export function fileAtOnce(tree: Tree, calls: ImmediateCalls, path: MountPath): SmallFile | undefined {
  return calls.together((plain) => withEntry(tree, plain, path, (entry, status) => readWhole(plain, entry, status)))
}

function readWhole(calls: PlainCalls, entry: number, status: Status): SmallFile | undefined {
  if (!status.isFile() || status.size > smallBytes || isReserved(status, pathOfDescriptor(entry))) return undefined
  // opened without effect so far; only now that it is known to be a file, for its data
  const fd = calls.open(pathOfDescriptor(entry), reading)
  try {
    const bytes = new Uint8Array(Number(status.size))
    const count = bytes.length === 0 ? 0 : calls.read(fd, bytes, 0, bytes.length, 0)
    return count === bytes.length ? { bytes, status } : undefined
  } finally {
    calls.close(fd)
  }
}

function withEntry<Result>(
  tree: Tree,
  calls: PlainCalls,
  path: MountPath,
  work: (fd: number, status: Status) => Result | undefined,
): Result | undefined {
  const shortcut = tree.verified ? tree.shortcut(path) : undefined
  if (shortcut === undefined) return undefined
  let fd = -1
  try {
    fd = calls.open(shortcut, anyEntry)
    return tree.isAt(fd, path) ? work(fd, calls.fstat(fd)) : undefined
  } catch {
    return undefined
  } finally {
    if (fd >= 0) calls.close(fd)
  }
}
