import {
  type LimitOptions,
  type ResolvedLimits,
  resolveLimits,
  resolveTools,
  type ResolvedTool,
  type Tool,
} from '@ws/process'

import { invalidOption } from './errors.ts'

export interface ProotExecutorOptions extends LimitOptions {
  /** Names of variables (or prefixes ending in `*`) that commands take over from this process. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** `auto` (default): commands run under Landlock where the kernel has it. `off`: they are translated only. */
  readonly landlock?: 'auto' | 'off' | undefined
  /** `auto` (default): a PID namespace around each command where one can be had. `off`: a supervisor alone ends its tree. */
  readonly pidNamespace?: 'auto' | 'off' | undefined
  /** Further directories of this machine, such as those of a version manager; read-only, and on PATH. */
  readonly tools?: readonly Tool[] | undefined
}

export interface ResolvedOptions extends ResolvedLimits {
  readonly env: readonly string[]
  readonly landlock: 'auto' | 'off'
  readonly pidNamespace: 'auto' | 'off'
  readonly tools: readonly ResolvedTool[]
}

const operation = 'createProotExecutor'
const known = ['env', 'landlock', 'pidNamespace', 'tools', 'limits', 'cgroup']

/** @throws WorkspaceError `EINVAL` that names the option and what it takes. */
export function resolveOptions(options: ProotExecutorOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) throw invalidOption('the options must be an object')
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalidOption(`there is no option \`${unknown}\``, `use ${known.join(', ')}`)
  const { env = [], landlock = 'auto', pidNamespace = 'auto', tools = [] } = options
  if (!Array.isArray(env) || env.some((name) => typeof name !== 'string' || name === '' || /[=\0]/.test(name)))
    throw invalidOption('`env` must be a list of names', "such as ['HTTPS_PROXY', 'LC_*']")
  for (const [name, value] of Object.entries({ landlock, pidNamespace })) {
    if (value !== 'auto' && value !== 'off') throw invalidOption(`\`${name}\` must be 'auto' or 'off'`)
  }
  const held = resolveLimits(options, operation)
  return { env, landlock, pidNamespace, tools: resolveTools(tools, operation), ...held }
}
