import { checkLimits, type CommandLimits } from '@ws/core'
import {
  checkAgainstOwn,
  checkCgroupOption,
  resolveTools,
  type ResolvedTool,
  type Tool,
  withoutCgroupFields,
} from '@ws/process'

import { invalidOption } from './errors.ts'

export interface ProotExecutorOptions {
  /** Names of variables (or prefixes ending in `*`) that commands take over from this process. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** `auto` (default): commands run under Landlock where the kernel has it. `off`: they are translated only. */
  readonly landlock?: 'auto' | 'off' | undefined
  /** `auto` (default): a PID namespace around each command where one can be had. `off`: a supervisor alone ends its tree. */
  readonly pidNamespace?: 'auto' | 'off' | undefined
  /** Further directories of this machine, such as those of a version manager; read-only, and on PATH. */
  readonly tools?: readonly Tool[] | undefined
  /** Of every command; a command's own `limits` narrow them. Which are held, and over what, says `probe().limits`. */
  readonly limits?: CommandLimits | undefined
  /**
   * Host path of a cgroup v2 group that is delegated to this process and has no process in it itself. Each command then gets
   * a group below it, which holds `memoryBytes` and `processes` over its whole tree, and with which all of the tree ends.
   * Where it cannot be used, the executor is not available. Default: none; these two are resource limits then.
   */
  readonly cgroup?: string | undefined
}

export interface ResolvedOptions {
  readonly env: readonly string[]
  readonly landlock: 'auto' | 'off'
  readonly pidNamespace: 'auto' | 'off'
  readonly tools: readonly ResolvedTool[]
  readonly limits: CommandLimits
  readonly cgroup: string | undefined
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
  const limits = checkLimits(options.limits, operation)
  const cgroup = checkCgroupOption(options.cgroup, operation)
  checkAgainstOwn(cgroup === undefined ? limits : withoutCgroupFields(limits), operation)
  return { env, landlock, pidNamespace, tools: resolveTools(tools, operation), limits, cgroup }
}
