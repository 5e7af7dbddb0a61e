import { createScratchAdapter } from '@ws/adapter-local'
import { type ErrorCode, isWorkspaceError, readOnly } from '@ws/core'
import type { Owner, StorageAdapter } from '@ws/core/adapter'
import { checkOption, checkOptions, option, type OptionShapes } from '@ws/core/options'

import { ownerShape } from '../options.ts'

/** A requested mount could not be made. */
export interface DegradedEvent {
  readonly code: ErrorCode | undefined
  /** The error's message, without host paths and secrets. */
  readonly message: string
}

export interface OrEmptyOptions {
  /** Called with the reason for the empty mount. */
  readonly onDegraded: (event: DegradedEvent) => void
  /** The user that commands run as. Default: this process's own user. */
  readonly owner?: Owner | undefined
}

const shapes: OptionShapes<OrEmptyOptions> = { onDegraded: option.required(option.function), owner: ownerShape }

/**
 * Returns the adapter of `make`, for mounts that a workspace can do without, such as skills and tickets. If `make` fails, the adapter is an
 * empty, read-only directory. The callback reports the failure, and the adapter's name in `workspace.mounts` shows it.
 */
export async function orEmpty(make: () => Promise<StorageAdapter>, options: OrEmptyOptions): Promise<StorageAdapter> {
  checkOption('orEmpty', 'make', make, option.required(option.function))
  checkOptions<OrEmptyOptions>(options, shapes, { operation: 'orEmpty' })
  const { onDegraded, owner } = options
  try {
    return await make()
  } catch (error) {
    const code = isWorkspaceError(error) ? error.code : undefined
    onDegraded({ code, message: isWorkspaceError(error) ? error.message : 'the mount could not be made' })
    const empty = readOnly(await createScratchAdapter({ owner }))
    return Object.assign(empty, { name: `unavailable(${code ?? 'unknown'})` })
  }
}
