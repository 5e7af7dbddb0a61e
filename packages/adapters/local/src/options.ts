import { resolve } from 'node:path'

import { WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'

export interface LocalAdapterOptions {
  /** The directory (absolute, or from the working directory). Must exist unless `create` is true. A link is resolved once. */
  readonly root: string
  /** Makes a missing directory for `owner`, but not its parents. If root omits `owner`: the parent's owner, else 1000. Default false. */
  readonly create?: boolean | undefined
  /** The user that owns new files and runs commands. Default for root: the root directory's owner. Other users can only name themselves. */
  readonly owner?: Owner | undefined
  /** `auto` (default): small local operations run on this thread, others on the pool. `async`: all operations run on the pool. */
  readonly io?: 'auto' | 'async' | undefined
}

export interface ScratchAdapterOptions {
  /** Default: this process's user, or uid and gid 1000 if that user is root. Commands never run as root. */
  readonly owner?: Owner | undefined
  readonly io?: 'auto' | 'async' | undefined
}

export interface CheckedOptions {
  readonly root: string
  readonly create: boolean
  readonly owner: Owner | undefined
  readonly io: 'auto' | 'async'
}

const highestId = 2 ** 32 - 2

const operation = 'createLocalAdapter'
const id = option.integer(0, highestId)

const shared: OptionShapes<ScratchAdapterOptions> = {
  owner: option.options<Owner>(
    { uid: option.required(option.integer(1, highestId)), gid: option.required(id) },
    '`{ uid, gid }` of an ordinary user',
  ),
  io: option.oneOf('auto', 'async'),
}

const shapes: OptionShapes<LocalAdapterOptions> = {
  ...shared,
  create: option.boolean,
  root: option.required(
    option.hidden(
      option.of(
        'the path of a directory',
        (value) => typeof value === 'string' && value !== '' && !value.includes('\0') && value.isWellFormed(),
      ),
    ),
  ),
}

export function checkLocalOptions(options: LocalAdapterOptions): CheckedOptions {
  checkOptions<LocalAdapterOptions>(options, shapes, { operation })
  return { root: resolve(options.root), create: options.create ?? false, ...withDefaults(options) }
}

export function checkScratchOptions(options: ScratchAdapterOptions): Omit<CheckedOptions, 'root' | 'create'> {
  checkOptions<ScratchAdapterOptions>(options, shared, { operation: 'createScratchAdapter' })
  return withDefaults(options)
}

function withDefaults({ owner, io = 'auto' }: ScratchAdapterOptions): Omit<CheckedOptions, 'root' | 'create'> {
  const own = process.getuid?.()
  if (owner !== undefined && own !== undefined && own !== 0 && (owner.uid !== own || owner.gid !== process.getgid?.()))
    throw invalid(
      '`owner` must be the user of this process: only root can give files away',
      'leave it out, or run as root',
    )
  return { owner, io }
}

export function invalid(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy })
}
