import type { MountPath } from '@ws/core/adapter'

/** Something in the bucket that a tree of files cannot show as it is. */
export interface S3Problem {
  /**
   * - `hidden-file`: an object has the path of a directory, which is shown. The file is listed as unreachable, and can be read.
   * - `hidden-link`: the same for a link beside a file or directory.
   * - `unreachable-key`: no path can name the object (empty, `.` or `..` segment, NUL, not UTF-8, too long).
   * - `normalisation`: two names in one directory differ in Unicode normalisation only.
   */
  readonly kind: 'hidden-file' | 'hidden-link' | 'unreachable-key' | 'normalisation'
  /** The path, or for what no path names the closest thing to one. */
  readonly path: string
}

export interface TransferProgress {
  readonly operation: 'move' | 'copy' | 'delete'
  /** The object that was finished: at the destination, where there is one. */
  readonly path: MountPath
  readonly done: number
}
