import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { commandLimits } from '@ws/core/executor'
import type { CommandLimits } from '@ws/core'
import { ExecutorOptions } from '@ws/sandbox'

import { type AddressProblem, type EngineAddress, findEngine, requireAddress } from './engine/address.ts'

export interface ContainerExecutorOptions {
  /** The image that commands run in. It needs perl, a shell and Linux for this machine's processor. Default `debian:stable-slim`. */
  readonly image?: string | undefined
  /** Pulls the image if the engine does not have it. Default false: the executor is then not available. */
  readonly pull?: boolean | undefined
  /**
   * The address of the engine: `unix:///path`, or `tcp://host:port` without TLS. Default: as Docker and Podman find theirs, by a Unix
   * socket alone. The engine must run on this machine itself.
   */
  readonly engine?: string | undefined
  /** Names of this process's environment variables that commands inherit. A `*` at the end matches any ending. */
  readonly env?: readonly string[] | undefined
  /** The limits of every command. A command's own `limits` can only lower them. */
  readonly limits?: CommandLimits | undefined
  /** Bytes of each file system in memory: `/dev/shm`, and `/tmp` without a scratch directory. Default 64 MiB. */
  readonly scratchBytes?: number | undefined
}

export interface ResolvedOptions {
  readonly image: string
  readonly pull: boolean
  readonly engine: EngineAddress | AddressProblem
  readonly env: readonly string[]
  readonly limits: CommandLimits
  readonly scratchBytes: number
}

const operation = 'createContainerExecutor'
const defaultImage = 'debian:stable-slim'
const defaultScratchBytes = 64 * 1024 * 1024

const shapes: OptionShapes<ContainerExecutorOptions> = {
  image: option.of(
    'the name of an image, such as `debian:stable-slim`',
    (value) => typeof value === 'string' && /^[\w][\w.\-/:@]{0,255}$/.test(value),
  ),
  pull: option.boolean,
  engine: option.hidden(option.string),
  env: ExecutorOptions.environmentNamesShape,
  limits: option.options(commandLimits.shapes),
  scratchBytes: option.integer(4096),
}

/** @throws WorkspaceError `EINVAL` with the option, its shape and the value */
export function resolveOptions(options: ContainerExecutorOptions): ResolvedOptions {
  ExecutorOptions.refuseNetworkList(options, operation)
  checkOptions<ContainerExecutorOptions>(options, shapes, { operation })
  const {
    image = defaultImage,
    pull = false,
    engine,
    env = [],
    limits = {},
    scratchBytes = defaultScratchBytes,
  } = options
  const address = engine === undefined ? findEngine() : requireAddress(engine, operation)
  return { image, pull, engine: address, env, limits, scratchBytes }
}
