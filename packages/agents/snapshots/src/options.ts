import { checkOptions, option } from '@ws/core/options'
import type { OptionShapes } from '@ws/core/options'

export interface CheckpointsOptions {
  /**
   * An absolute directory of this machine for saved bytes, needed for mounts on a disk. One process uses it at a time.
   * It is created if missing, closed to other users, and must lie outside every mount.
   */
  readonly stateDirectory?: string | undefined
  /** True takes a checkpoint before each command, and before each tool call that may change something. Default false. */
  readonly automatic?: boolean | undefined
  /** Limit of bytes of all saved states. The oldest checkpoints are deleted to make room. Default 4 GiB. */
  readonly maxBytes?: number | undefined
  /** Bytes of the largest saved file; `checkpoint` reports larger files as left out. Default 64 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Milliseconds that a checkpoint is kept. The latest checkpoint is always kept. Default 7 days. */
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
