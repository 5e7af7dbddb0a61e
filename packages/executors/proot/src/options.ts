import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { ExecutorOptions, Limits, Tools } from '@ws/sandbox'

export interface ProotExecutorOptions extends Limits.LimitOptions {
  /** Names of variables (or prefixes ending in `*`) that commands take over from this process. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** `auto` (default): commands run under Landlock where the kernel has it. `off`: they are translated only. */
  readonly landlock?: 'auto' | 'off' | undefined
  /** `auto` (default): a PID namespace around each command where one can be had. `off`: a supervisor alone ends its tree. */
  readonly pidNamespace?: 'auto' | 'off' | undefined
  /** Further directories of this machine, such as those of a version manager; read-only, and on PATH. */
  readonly tools?: readonly Tools.Tool[] | undefined
}

export interface ResolvedOptions extends Limits.ResolvedLimits {
  readonly env: readonly string[]
  readonly landlock: 'auto' | 'off'
  readonly pidNamespace: 'auto' | 'off'
  readonly tools: readonly Tools.ResolvedTool[]
}

const operation = 'createProotExecutor'
const shapes: OptionShapes<ProotExecutorOptions> = {
  env: ExecutorOptions.environmentNamesShape,
  landlock: option.oneOf('auto', 'off'),
  pidNamespace: option.oneOf('auto', 'off'),
  tools: ExecutorOptions.toolsShape,
  ...ExecutorOptions.limitOptionShapes,
}

/** @throws WorkspaceError `EINVAL` that names the option, says what it must be and what was given. */
export function resolveOptions(options: ProotExecutorOptions): ResolvedOptions {
  ExecutorOptions.refuseNetworkList(options, operation)
  checkOptions<ProotExecutorOptions>(options, shapes, { operation })
  const { env = [], landlock = 'auto', pidNamespace = 'auto', tools = [] } = options
  const held = Limits.resolveLimits(options, operation)
  return { env, landlock, pidNamespace, tools: Tools.resolveTools(tools, operation), ...held }
}
