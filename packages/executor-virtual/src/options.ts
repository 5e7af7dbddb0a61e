import { WorkspaceError } from '@ws/core'

import type { InterpreterLimits } from './worker/protocol.ts'

/** Beyond each of these a command ends with exit code 126 and says so on standard error. */
export interface VirtualLimits extends Partial<InterpreterLimits> {
  /** Simple commands that run altogether, loops included. Default 1,000,000. */
  readonly maxCommands?: number
  /** Rounds of one loop, of the shell's own and of awk's, sed's and jq's. Default 1,000,000. */
  readonly maxLoopIterations?: number
  /** Shell functions that call one another. Default 100. */
  readonly maxCallDepth?: number
  /** Bytes of output, both streams together, before it is cut for the result. Default 64 MiB. */
  readonly maxOutputBytes?: number
  /** Bytes of the largest file that is read, the largest string, and standard input. Default 64 MiB. */
  readonly maxFileBytes?: number
  /** Bytes of heap of the thread that runs a command; above it the command ends with `SIGKILL`. Default 512 MiB. */
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

/** @throws WorkspaceError `EINVAL` that names the option and what it takes. */
export function resolveOptions(options: VirtualExecutorOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) throw invalidOption('the options must be an object')
  checkNames(options, ['concurrency', 'limits'], '')
  const { concurrency = 4, limits = {} } = options
  checkCount('concurrency', concurrency)
  if (typeof limits !== 'object' || limits === null) throw invalidOption('`limits` must be an object')
  checkNames(limits, Object.keys(defaults), 'limits.')
  for (const [name, value] of Object.entries(limits)) checkCount(`limits.${name}`, value)
  if (limits.maxMemory !== undefined && limits.maxMemory < 64 * mebibyte)
    throw invalidOption(
      '`limits.maxMemory` is less than the interpreter itself takes',
      'give at least 67108864 (64 MiB)',
    )
  return { concurrency, limits: { ...defaults, ...limits } }
}

function checkNames(options: object, known: readonly string[], prefix: string): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw invalidOption(`there is no option \`${prefix}${unknown}\``, `use ${known.join(', ')}`)
}

function checkCount(name: string, value: unknown): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return
  throw invalidOption(`\`${name}\` must be a whole number above 0`)
}

function invalidOption(reason: string, remedy?: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'createVirtualExecutor', reason, remedy })
}
