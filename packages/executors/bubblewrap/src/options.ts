import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { ExecutorOptions, Limits, Tools } from '@ws/sandbox'

import { type NamedNetwork, type NetworkOptions, networkShape, resolveNetwork } from './network/options.ts'

export interface BubblewrapExecutorOptions extends Limits.LimitOptions {
  /**
   * How a mount at `/` becomes the root of commands; without one it means nothing. `direct`: the workspace's directory itself, at
   * full speed; where that cannot be, commands are refused. `translated`: through proot. `auto` (default): `direct` where it
   * can be, else `translated`; `probe().details` says which, and why.
   */
  readonly root?: 'auto' | 'direct' | 'translated' | undefined
  /**
   * `none` (default): commands have a network namespace of their own with nothing in it. `host`: they share the host's
   * network and its abstract sockets; the guarantees `network` and `sockets` are then `none`. `{ allow: ['example.org'] }`: they
   * reach the listed hosts alone, from an empty network namespace; `network` is then `names`.
   */
  readonly network?: 'none' | 'host' | NetworkOptions | undefined
  /**
   * `workspace` (default): commands can use Unix sockets, and reach those whose path lies in the workspace, where a program of
   * the host may listen. `none`: they can make no Unix socket, which takes those of their own from programs as well (EAFNOSUPPORT).
   */
  readonly unixSockets?: 'workspace' | 'none' | undefined
  /** Names of this process's environment variables that commands inherit; a `*` at the end matches any rest. */
  readonly env?: readonly string[] | undefined
  /**
   * Bytes of each file system in memory that a command gets: `/dev/shm`, and `/tmp` where the workspace brings no scratch
   * directory of its own. Default 64 MiB. A scratch directory on disk is not limited by this.
   */
  readonly scratchBytes?: number | undefined
  /**
   * Whether sandboxes are kept ready, so that each command after the first takes one instead of waiting for its own. Default true.
   * A command with a terminal, with a control group, or with more than 64 KiB of arguments and environment gets its own in any
   * case, and so does each command whose root is translated. `probe().details` says whether this machine can do it.
   *
   * `{ keepNames: true }`: the names that a mount at `/` needs of its directory (`usr`, `bin`, `etc`…) stay there between commands.
   * They are gone a minute after the last one, and at `close()`. It is for directories that no other program looks at.
   */
  readonly warm?: boolean | WarmOptions | undefined
  /**
   * A program of the host can replace a file that rules protect while a command runs: `git config`, an editor that saves. `cover`
   * (default): the new file is covered too, and the result reports for how long it was `exposed`. `end`: the command is ended, as it is
   * where the new file cannot be covered in time.
   */
  readonly onExposure?: 'cover' | 'end' | undefined
  /** Further directories of this machine, such as those of a version manager: read-only, and on PATH. */
  readonly tools?: readonly Tools.Tool[] | undefined
}

export interface WarmOptions {
  /** Default false: nothing is left in the directory when the last command has ended. */
  readonly keepNames?: boolean | undefined
}

export interface ResolvedOptions extends Limits.ResolvedLimits {
  readonly root: 'auto' | 'direct' | 'translated'
  readonly network: 'none' | 'host' | NamedNetwork
  readonly unixSockets: 'workspace' | 'none'
  readonly env: readonly string[]
  readonly scratchBytes: number
  readonly warm: false | Required<WarmOptions>
  readonly onExposure: 'cover' | 'end'
  readonly tools: readonly Tools.ResolvedTool[]
}

const operation = 'createBubblewrapExecutor'
const defaultScratchBytes = 64 * 1024 * 1024
const leastScratchBytes = 4096

const shapes: OptionShapes<BubblewrapExecutorOptions> = {
  root: option.oneOf('auto', 'direct', 'translated'),
  network: networkShape,
  unixSockets: option.oneOf('workspace', 'none'),
  env: ExecutorOptions.environmentNamesShape,
  scratchBytes: option.integer(leastScratchBytes),
  warm: {
    must: 'a boolean, or an object such as `{ keepNames: true }`',
    accepts: (value) => option.boolean.accepts(value) || option.object.accepts(value),
    options: { keepNames: option.boolean },
  },
  onExposure: option.oneOf('cover', 'end'),
  tools: ExecutorOptions.toolsShape,
  ...ExecutorOptions.limitOptionShapes,
}

/** @throws WorkspaceError `EINVAL` that names the option, says what it must be and what was given. */
export function resolveOptions(options: BubblewrapExecutorOptions): ResolvedOptions {
  checkOptions<BubblewrapExecutorOptions>(options, shapes, { operation })
  const { root = 'auto', network = 'none', unixSockets = 'workspace', env = [] } = options
  const { scratchBytes = defaultScratchBytes, warm = true, onExposure = 'cover' } = options
  const held = Limits.resolveLimits(options, operation)
  return {
    root,
    network: resolveNetwork(network, operation),
    unixSockets,
    env,
    scratchBytes,
    warm: warm !== false && { keepNames: warm !== true && warm.keepNames === true },
    onExposure,
    ...held,
    tools: Tools.resolveTools(options.tools ?? [], operation),
  }
}
