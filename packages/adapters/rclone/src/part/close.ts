import { isWorkspaceError, paths } from '@ws/core'

import { failure } from '../errors.ts'
import { flushPart } from './flush.ts'
import type { Task } from '../mount/pending.ts'
import type { MountedPart } from './mounted-part.ts'

const call: Task = { operation: 'close', path: paths.mountRoot }

/** `force`: close without waiting for users of the mount. */
export type OnClose = (options: { readonly force: boolean }) => Promise<void>

export interface CloseOptions {
  /** False for a part that this process cannot change. */
  readonly flushes: boolean
  readonly onClose: OnClose
}

/** Flushes, then releases the part. If the flush fails, the part is released too, and the call rejects. */
export async function closePart(part: MountedPart, { flushes, onClose }: CloseOptions): Promise<void> {
  const open = part.now
  const problems: unknown[] = []
  const { mount } = part
  const { operation } = mount.options.timeouts
  part.refuse()
  const isHung = mount.state === 'hung'
  const canFlush = open !== undefined && mount.state === 'ready'
  if (canFlush && flushes) await flushPart(part, open, call).catch((error: unknown) => problems.push(error))
  // After a timeout of the store, no further wait follows.
  const isSilent = problems.some((problem) => isWorkspaceError(problem, 'ETIMEDOUT'))
  const isLeft = await part.leave(isSilent ? 0 : operation)
  await onClose({ force: !isLeft }).catch((error: unknown) => problems.push(error))
  if (!canFlush && flushes && (await part.isDirty(operation))) problems.unshift(unflushed(isHung))
  for (const problem of problems) throw problem
}

function unflushed(isHung: boolean): Error {
  const state = isHung ? 'the mount does not answer' : 'the mount is gone'
  return failure(isHung ? 'ETIMEDOUT' : 'EIO', `could not upload everything: ${state}`, {
    ...call,
    remedy: 'mount the same part again with the same `directory`: the cache keeps it',
  })
}
