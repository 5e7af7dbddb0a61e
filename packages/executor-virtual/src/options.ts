import { checkOptions, option, type OptionShapes } from '@ws/core/options'

import type { InterpreterLimits } from './worker/protocol.ts'

/** Beyond each of these a command ends with exit code 126 and says so on standard error. */
export interface VirtualLimits extends Partial<InterpreterLimits> {
  /** Simple commands that run altogether, loops included. Default 1,000,000. */
  readonly maxCommands?: number
  /** Rounds of one loop, of the shell's own and of awk's and sed's. Default 1,000,000. */
  readonly maxLoopIterations?: number
  /** Shell functions that call one another. Default 100. */
  readonly maxCallDepth?: number
  /** Bytes of output, both streams together, before it is cut for the result. Default 64 MiB. */
  readonly maxOutputBytes?: number
  /** Bytes of the largest file that is read, the largest string, and standard input. Default 64 MiB. */
  readonly maxFileBytes?: number
  /**
   * Bytes of heap of the thread that runs a command; above it the command ends with `SIGKILL`. jq gets as much besides,
   * and ends with 134. Default 512 MiB.
   */
  readonly maxMemory?: number
}

export interface VirtualExecutorOptions {
  /** Commands of all its workspaces that run at once; more of them wait. Each takes a thread. Default 4. */
  readonly concurrency?: number | undefined
  readonly limits?: VirtualLimits | undefined
}

export interface ResolvedOptions {
  readonly concurrency: number
  readonly limits: Required<VirtualLimits>
}

const mebibyte = 1024 * 1024

const defaults: Required<VirtualLimits> = {
  maxCommands: 1_000_000,
  maxLoopIterations: 1_000_000,
  maxCallDepth: 100,
  maxOutputBytes: 64 * mebibyte,
  maxFileBytes: 64 * mebibyte,
  maxMemory: 512 * mebibyte,
}

const count = option.integer(1)

const shapes: OptionShapes<VirtualExecutorOptions> = {
  concurrency: option.integer(1, 256),
  limits: option.options<VirtualLimits>({
    maxCommands: count,
    maxLoopIterations: count,
    maxCallDepth: count,
    maxOutputBytes: count,
    maxFileBytes: count,
    // Less than this is what the interpreter itself takes.
    maxMemory: option.integer(64 * mebibyte),
  }),
}

/** @throws WorkspaceError `EINVAL` that names the option, says what it must be and what was given. */
export function resolveOptions(options: VirtualExecutorOptions): ResolvedOptions {
  checkOptions<VirtualExecutorOptions>(options, shapes, { operation: 'createVirtualExecutor' })
  const { concurrency = 4, limits = {} } = options
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  return { concurrency, limits: { ...defaults, ...Object.fromEntries(given) } }
}
