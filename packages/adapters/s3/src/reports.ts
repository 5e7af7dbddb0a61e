import type { MountPath } from '@ws/core/adapter'

/** An entry of the bucket that a tree of files cannot show. */
export interface S3Problem {
  /**
   * - `hidden-file`: an object has the path of a directory, which is shown. The file is listed as unreachable, and can be read.
   * - `hidden-link`: a link has the path of a file or directory, which is shown.
   * - `unreachable-key`: no path can name the object (empty, `.` or `..` segment, NUL, not UTF-8, too long).
   * - `normalisation`: two names in one directory differ only in Unicode normalisation.
   */
  readonly kind: 'hidden-file' | 'hidden-link' | 'unreachable-key' | 'normalisation'
  /** The path, or the nearest possible path. */
  readonly path: string
}

export interface TransferProgress {
  readonly operation: 'move' | 'copy' | 'delete'
  /** The finished object, at the destination for a copy or move. */
  readonly path: MountPath
  readonly done: number
}
