import { WorkspaceError } from '@ws/core'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { ExecutorOptions, Limits, Tools } from '@ws/sandbox'

import { type NamedNetwork, type NetworkOptions, networkShape, resolveNetwork } from './network/options.ts'

export interface BubblewrapExecutorOptions extends Limits.LimitOptions {
  /**
   * How a mount at `/` becomes the root of commands. `direct`: the directory itself, at full speed, or a refusal. `translated`: through
   * proot.
   * `auto` (default): `direct` if possible, else `translated`; `probe().details` reports the form and the reason.
   */
  readonly root?: 'auto' | 'direct' | 'translated' | undefined
  /**
   * `none` (default): commands reach their loopback alone. A list of hosts: these hosts as well. `host`: the network of this machine, with
   * its loopback and its abstract Unix sockets.
   */
  readonly network?: 'none' | 'host' | NetworkOptions | undefined
  /**
   * `workspace` (default): the commands of a workspace share one loopback and one space of abstract Unix sockets, so a server that one
   * starts is reached by the next. Nothing else reaches it: no other workspace, and no program of this machine.
   * A server that is left can hold a port. Commands that acknowledge a rule, or have another list of hosts, have another.
   * `command`: each command has its own.
   * With `network: 'host'` it cannot be given.
   */
  readonly loopback?: 'workspace' | 'command' | undefined
  /**
   * `workspace` (default): commands reach Unix sockets in the workspace, where host programs may listen.
   * `none`: commands can make no Unix sockets, not even between their own programs (EAFNOSUPPORT).
   */
  readonly unixSockets?: 'workspace' | 'none' | undefined
  /** Names of this process's environment variables that commands inherit. A `*` at the end matches any ending. */
  readonly env?: readonly string[] | undefined
  /**
   * Bytes of each file system in memory: `/dev/shm`, and `/tmp` without a scratch directory. Default 64 MiB.
   * This limit does not apply to a scratch directory on disk.
   */
  readonly scratchBytes?: number | undefined
  /**
   * Keep sandboxes ready for later commands. Default true. `probe().details` reports whether this machine supports that.
   * Commands with a terminal, a control group, a translated root, or more than 64 KiB of arguments and environment get a new sandbox.
   * `{ keepNames: true }` keeps the names that a mount at `/` needs (`usr`, `bin`, `etc`…) until a minute after the last command, or
   * `close()`.
   * Use `keepNames` for directories that no other program lists.
   */
  readonly warm?: boolean | WarmOptions | undefined
  /**
   * The reaction when a host program replaces a file under a rule while a command runs: `git config`, an editor that saves. `cover`
   * (default): the new file is covered, and the result gives the time for which the file was `exposed`. `end`: the command is ended.
   */
  readonly onExposure?: 'cover' | 'end' | undefined
  /** Further directories of this machine, such as a version manager's. They are read-only, and on PATH. */
  readonly tools?: readonly Tools.Tool[] | undefined
}

export interface WarmOptions {
  /** Keep the names after the last command. Default false: the names are then removed. */
  readonly keepNames?: boolean | undefined
}

export interface ResolvedOptions extends Limits.ResolvedLimits {
  readonly root: 'auto' | 'direct' | 'translated'
  readonly network: 'none' | 'host' | NamedNetwork
  readonly loopback: 'workspace' | 'command'
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
  loopback: option.oneOf('workspace', 'command'),
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

/** @throws WorkspaceError `EINVAL` with the option, its shape and the value */
export function resolveOptions(options: BubblewrapExecutorOptions): ResolvedOptions {
  checkOptions<BubblewrapExecutorOptions>(options, shapes, { operation })
  const { root = 'auto', network = 'none', loopback = 'workspace', unixSockets = 'workspace', env = [] } = options
  const { scratchBytes = defaultScratchBytes, warm = true, onExposure = 'cover' } = options
  if (network === 'host' && options.loopback !== undefined) throw noLoopback()
  const held = Limits.resolveLimits(options, operation)
  return {
    root,
    network: resolveNetwork(network, operation),
    loopback,
    unixSockets,
    env,
    scratchBytes,
    warm: warm !== false && { keepNames: warm !== true && warm.keepNames === true },
    onExposure,
    ...held,
    tools: Tools.resolveTools(options.tools ?? [], operation),
  }
}

function noLoopback(): WorkspaceError {
  const reason = "`loopback` has no meaning with `network: 'host'`: commands use the loopback of this machine"
  return new WorkspaceError({
    code: 'EINVAL',
    operation,
    reason,
    remedy: 'leave `loopback` out, or set another `network`',
  })
}
