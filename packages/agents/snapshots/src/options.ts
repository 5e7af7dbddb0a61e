import { checkOptions, option } from '@ws/core/options'
import type { OptionShapes } from '@ws/core/options'

export interface CheckpointsOptions {
  /**
   * A directory of this user for saved bytes, by an absolute path of this machine. It is made where it is missing, closed to
   * others, and must lie outside every mount. One process uses it at a time. Needed for mounts on a disk.
   */
  readonly stateDirectory?: string | undefined
  /** Take a checkpoint before each command, and before each tool call that may change something. Default false. */
  readonly automatic?: boolean | undefined
  /** Bytes that saved states may have together. The oldest checkpoints make room. Default 4 GiB. */
  readonly maxBytes?: number | undefined
  /** Bytes of a file that is saved; larger ones are left out, and `checkpoint` says so. Default 64 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Milliseconds that a checkpoint is kept for. The latest one is kept longer. Default 7 days. */
  readonly maxAge?: number | undefined
}

export interface CheckedOptions {
  readonly stateDirectory: string | undefined
  readonly automatic: boolean
  readonly maxBytes: number
  readonly maxFileBytes: number
  readonly maxAge: number
}

const mebibyte = 1024 * 1024
const day = 86_400_000

const shapes: OptionShapes<CheckpointsOptions> = {
  stateDirectory: option.hidden(
    option.of(
      'an absolute path',
      (value) => typeof value === 'string' && value.startsWith('/') && !value.includes('\0'),
    ),
  ),
  automatic: option.boolean,
  maxBytes: option.integer(1),
  maxFileBytes: option.integer(0, 1024 * mebibyte),
  maxAge: option.integer(1),
}

/** @throws WorkspaceError `EINVAL` that names the option */
export function checkCheckpointsOptions(options: CheckpointsOptions): CheckedOptions {
  checkOptions<CheckpointsOptions>(options, shapes, { operation: 'createCheckpoints' })
  return {
    stateDirectory: options.stateDirectory?.replace(/\/+$/u, '') || options.stateDirectory,
    automatic: options.automatic ?? false,
    maxBytes: options.maxBytes ?? 4 * 1024 * mebibyte,
    maxFileBytes: options.maxFileBytes ?? 64 * mebibyte,
    maxAge: options.maxAge ?? 7 * day,
  }
}
