import type { MountPath } from '@ws/core/adapter'

import { failure } from './errors.ts'

/** Pictures of control characters such as `␊`, and the character that quotes them. */
const changed = /[\u2401-\u241f\u2421\u201b]/u

/**
 * Refuses a path that rclone would change. Call this before content is written to or read from the path. In its cache, rclone uses
 * another name: with the control character itself, or with one more quote. Another file may have that name. After a kill,
 * content without an upload reappears under that name.
 *
 * @throws WorkspaceError `EINVAL`
 */
export function refuseChangedName(operation: string, path: MountPath): void {
  if (!changed.test(path)) return
  const reason = 'cannot be kept: rclone changes names with a picture of a control character (like `␊`) or the mark `‛`'
  const remedy = 'use a name without these characters; `move` gives a file that has them another name'
  throw failure('EINVAL', reason, { operation, path, remedy })
}
