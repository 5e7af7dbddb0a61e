import { paths } from '@ws/core'
import { LinkSignal, type MountPath } from '@ws/core/adapter'

import { contractFailure, failure, nativeCode, translate } from '../errors.ts'
import { pathOfDescriptor } from '../host/calls.ts'
import { under, decodeName } from '../host/name.ts'
import { Descent } from './descent.ts'
import { type Handle, openChild, statusOf } from './handle.ts'
import type { Target, Task } from './task.ts'

/**
 * Walks to a target one component at a time without following links, and throws the obstacle or the system's error.
 *
 * `kind`: the last component must be a directory, must not be a link (`followed`), can be anything (`entry`), or is skipped (`parent`).
 */
export async function findObstacle(
  task: Task,
  target: Target,
  kind: 'entry' | 'directory' | 'parent' | 'followed',
): Promise<void> {
  await task.tree.assertThere(task.calls, target)
  const segments = paths.segmentsOf(target.path)
  const count = kind === 'parent' ? segments.length - 1 : segments.length
  const way = new Descent(task, {
    fd: task.tree.fd,
    self: task.tree.verified ? pathOfDescriptor(task.tree.fd) : task.tree.root,
  })
  let at: MountPath = paths.mountRoot
  try {
    for (const [index, segment] of segments.slice(0, count).entries()) {
      const isLast = index === segments.length - 1
      at = paths.child(at, segment)
      const directory = way.last
      const handle = await step(task, target, directory, segment, { parent: kind === 'parent' })
      await way.enter(handle)
      const status = await statusOf(task, handle)
      if (status.isSymbolicLink() && (!isLast || kind !== 'entry')) {
        const rest = segments.slice(index + 1).join('/')
        await signalLink(task, target, { directory, segment, at, rest })
        return // it is not a link any more
      }
      if (!status.isDirectory() && (!isLast || kind === 'directory')) {
        throw contractFailure(target, 'ENOTDIR')
      }
    }
  } finally {
    await way.end()
  }
}

/** Throws the `LinkSignal` for a final link; returns if the link is gone. */
export async function throwLink(task: Task, target: Target): Promise<void> {
  await findObstacle(task, target, 'followed')
}

async function step(
  task: Task,
  target: Target,
  directory: Handle,
  segment: string,
  options: { readonly parent: boolean },
): Promise<Handle> {
  try {
    return await openChild(task, directory, segment)
  } catch (error) {
    if (nativeCode(error) === 'ENOENT' && options.parent) {
      throw contractFailure(target, 'noParent', error)
    }
    throw translate(error, target)
  }
}

interface FoundLink {
  readonly directory: Handle
  readonly segment: string
  readonly at: MountPath
  readonly rest: string
}

async function signalLink(task: Task, target: Target, { directory, segment, at, rest }: FoundLink): Promise<void> {
  let bytes: Buffer
  try {
    bytes = await task.calls.readlink(under(directory.self, segment))
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'EINVAL' || code === 'ENOENT') return
    throw translate(error, target)
  }
  const linkTarget = decodeName(bytes)
  if (linkTarget !== undefined) throw new LinkSignal({ argument: target.argument, at, target: linkTarget, rest })
  throw failure(target, 'ENOENT', 'leads through a link whose target is not valid UTF-8, so no path can name it')
}
