import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { ExecutorOptions, Limits, Tools } from '@ws/sandbox'

export interface ProotExecutorOptions extends Limits.LimitOptions {
  /** Names of variables to inherit, or prefixes ending in `*`. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** `auto` (default): use Landlock if the kernel has it. `off`: only translation. */
  readonly landlock?: 'auto' | 'off' | undefined
  /** `auto` (default): a PID namespace for each command if possible. `off`: only a supervisor kills the command's processes. */
  readonly pidNamespace?: 'auto' | 'off' | undefined
  /** Further directories of this machine, such as a version manager's. Commands can read them, and they are in PATH. */
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

/** @throws WorkspaceError `EINVAL` with the option, its shape and the value */
export function resolveOptions(options: ProotExecutorOptions): ResolvedOptions {
  ExecutorOptions.refuseNetworkList(options, operation)
  checkOptions<ProotExecutorOptions>(options, shapes, { operation })
  const { env = [], landlock = 'auto', pidNamespace = 'auto', tools = [] } = options
  const held = Limits.resolveLimits(options, operation)
  return { env, landlock, pidNamespace, tools: Tools.resolveTools(tools, operation), ...held }
}
