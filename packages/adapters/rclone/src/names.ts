import type { MountPath } from '@ws/core/adapter'

import { failure } from './errors.ts'

/** Pictures of control characters, as in `␊`, and the mark that quotes them. */
const changed = /[\u2401-\u241f\u2421\u201b]/u

/**
 * To be called before content goes to such a path, or comes from there. In its cache, rclone gives the file another name:
 * with the character itself, or with one mark more. There may be another file of that name. And what was not uploaded before
 * rclone was killed comes back under it.
 *
 * @throws WorkspaceError `EINVAL`
 */
export function refuseChangedName(operation: string, path: MountPath): void {
  if (!changed.test(path)) return
  const reason = 'cannot be kept: rclone changes names with a picture of a control character (like `␊`) or the mark `‛`'
  const remedy = 'use a name without these characters; `move` gives a file that has them another name'
  throw failure('EINVAL', reason, { operation, path, remedy })
}
