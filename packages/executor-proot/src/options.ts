import { isWithin, parseVirtualPath, type VirtualPath } from '@ws/core'
import type { ProcessLimits } from '@ws/process'
import { lstatSync, realpathSync } from 'node:fs'

import { invalidOption } from './errors.ts'

/** A directory of this machine that commands see, read-only by the kernel only where there is Landlock. */
export interface ProotTool {
  /** Absolute path on this machine. */
  readonly host: string
  /** Where it appears; it, or its `bin` where there is one, is put in front of the system's PATH. */
  readonly at: string
}

export interface ProotExecutorOptions {
  /** Names of variables (or prefixes ending in `*`) that commands take over from this process. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** `auto` (default): commands run under Landlock where the kernel has it. `off`: they are translated only. */
  readonly landlock?: 'auto' | 'off' | undefined
  /** `auto` (default): a PID namespace around each command where one can be had. `off`: a supervisor alone ends its tree. */
  readonly pidNamespace?: 'auto' | 'off' | undefined
  /** Further directories of this machine, such as those of a version manager. */
  readonly tools?: readonly ProotTool[] | undefined
  /** Limits of each process. */
  readonly limits?: ProcessLimits | undefined
}

export interface ResolvedTool {
  /** Canonical. */
  readonly host: string
  readonly at: VirtualPath
}

export interface ResolvedOptions {
  readonly env: readonly string[]
  readonly landlock: 'auto' | 'off'
  readonly pidNamespace: 'auto' | 'off'
  readonly tools: readonly ResolvedTool[]
  readonly limits: ProcessLimits | undefined
}

const known = ['env', 'landlock', 'pidNamespace', 'tools', 'limits']

/** @throws WorkspaceError `EINVAL` that names the option and what it takes. */
export function resolveOptions(options: ProotExecutorOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) throw invalidOption('the options must be an object')
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalidOption(`there is no option \`${unknown}\``, `use ${known.join(', ')}`)
  const { env = [], landlock = 'auto', pidNamespace = 'auto', tools = [], limits } = options
  if (!Array.isArray(env) || env.some((name) => typeof name !== 'string' || name === '' || /[=\0]/.test(name)))
    throw invalidOption('`env` must be a list of names', "such as ['HTTPS_PROXY', 'LC_*']")
  for (const [name, value] of Object.entries({ landlock, pidNamespace })) {
    if (value !== 'auto' && value !== 'off') throw invalidOption(`\`${name}\` must be 'auto' or 'off'`)
  }
  if (!Array.isArray(tools)) throw invalidOption('`tools` must be a list of { host, at }')
  return { env, landlock, pidNamespace, tools: tools.map(resolveTool), limits }
}

const reserved = ['/tmp', '/etc', '/dev', '/proc'] as VirtualPath[]

function resolveTool({ host, at }: ProotTool): ResolvedTool {
  if (typeof host !== 'string' || !host.startsWith('/') || host.includes('\0'))
    throw invalidOption('`host` of a tool must be an absolute path of this machine')
  const place = parseVirtualPath(at, { operation: 'createProotExecutor' })
  if (place === '/' || reserved.some((path) => isWithin(place, path)))
    throw invalidOption(`a tool cannot be at \`${place}\``, 'choose a directory of its own such as /opt/node')
  let real: string | undefined
  try {
    real = realpathSync(host)
    if (!lstatSync(real).isDirectory()) real = undefined
  } catch {
    // Reported below, without the host's path.
  }
  if (real === undefined) throw invalidOption(`the tool for \`${place}\` is no directory of this machine`)
  return { host: real, at: place }
}
