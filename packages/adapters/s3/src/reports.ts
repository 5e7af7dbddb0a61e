import type { MountPath } from '@ws/core/adapter'

/** Something in the bucket that a tree of files cannot show as it is. */
export interface S3Problem {
  /**
   * - `hidden-file`: an object and a directory have one path. The directory is shown; the file is listed as unreachable,
   *   and can still be read, or seen again when the directory is moved away.
   * - `hidden-link`: the same, for a link beside a file or directory.
   * - `unreachable-key`: no path can name the object (an empty, `.` or `..` segment, NUL, bytes that are not UTF-8, too
   *   long).
   * - `normalisation`: two names in one directory are the same text in two Unicode normalisations.
   */
  readonly kind: 'hidden-file' | 'hidden-link' | 'unreachable-key' | 'normalisation'
  /** The path, or for what no path names the closest thing to one. */
  readonly path: string
}

/** One more object is done. */
export interface TransferProgress {
  readonly operation: 'move' | 'copy' | 'delete'
  /** The object that was finished: at the destination, where there is one. */
  readonly path: MountPath
  /** Objects finished so far. */
  readonly done: number
}
