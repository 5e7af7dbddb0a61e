import { WorkspaceError } from '@ws/core'
import { checkOptions, type OptionShapes } from '@ws/core/options'
import { ExecutorOptions, Tools } from '@ws/sandbox'

export interface SandboxRuntimeExecutorOptions {
  /** Names of variables to inherit, or prefixes ending in `*`. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** Further directories of this machine, such as a version manager's, at their own paths. Commands can read them, and they are in PATH. */
  readonly tools?: readonly Tools.Tool[] | undefined
}

export interface ResolvedOptions {
  readonly env: readonly string[]
  readonly tools: readonly Tools.ResolvedTool[]
}

const operation = 'createSandboxRuntimeExecutor'
const shapes: OptionShapes<SandboxRuntimeExecutorOptions> = {
  env: ExecutorOptions.environmentNamesShape,
  tools: ExecutorOptions.toolsShape,
}

/** @throws WorkspaceError `EINVAL` with the option, its shape and the value */
export function resolveOptions(options: SandboxRuntimeExecutorOptions): ResolvedOptions {
  ExecutorOptions.refuseNetworkList(options, operation)
  checkOptions<SandboxRuntimeExecutorOptions>(options, shapes, { operation })
  const tools = Tools.resolveTools(options.tools ?? [], operation)
  const moved = tools.find(({ host, at }) => host !== at)
  if (moved === undefined) return { env: options.env ?? [], tools }
  throw new WorkspaceError({
    code: 'EINVAL',
    operation,
    reason: `the tool at \`${moved.at}\` is shown at another path than its own, which this executor cannot do`,
    remedy: 'leave `at` out',
  })
}
