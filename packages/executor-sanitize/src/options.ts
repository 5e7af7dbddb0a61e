import type { ProcessLimits } from '@ws/process'

import { invalidOption } from './errors.ts'

export interface SanitizeExecutorOptions {
  /**
   * Programs that may run code, or that nobody knows here: by name for those of the system (`git`, `python3`, `npm`), by
   * absolute path for those of the workspace (`/scripts/build.sh`). `'all'`: every one, and the workspace's own programs
   * (`.venv/bin`, `node_modules/.bin`) come first on PATH. Default: none.
   */
  readonly trustPrograms?: readonly string[] | 'all' | undefined
  /** Names of variables (or prefixes ending in `*`) that commands take over from this process. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** `auto` (default): commands run under Landlock where the kernel has it. `off`: nothing but their own text holds them. */
  readonly landlock?: 'auto' | 'off' | undefined
  /** Limits of each process. */
  readonly limits?: ProcessLimits | undefined
}

export interface ResolvedOptions {
  readonly trust: ReadonlySet<string> | 'all'
  readonly env: readonly string[]
  readonly landlock: 'auto' | 'off'
  readonly limits: ProcessLimits | undefined
}

const known = ['trustPrograms', 'env', 'landlock', 'limits']

/** @throws WorkspaceError `EINVAL` that names the option and what it takes. */
export function resolveOptions(options: SanitizeExecutorOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) throw invalidOption('the options must be an object')
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalidOption(`there is no option \`${unknown}\``, `use ${known.join(', ')}`)
  const { trustPrograms = [], env = [], landlock = 'auto', limits } = options
  if (trustPrograms !== 'all' && (!Array.isArray(trustPrograms) || !trustPrograms.every(isProgram)))
    throw invalidOption(
      "`trustPrograms` must be 'all' or a list of names and of absolute paths of the workspace",
      "such as ['git', 'python3', '/scripts/build.sh']",
    )
  if (!Array.isArray(env) || env.some((name) => typeof name !== 'string' || name === '' || /[=\0]/.test(name)))
    throw invalidOption('`env` must be a list of names', "such as ['HTTPS_PROXY', 'LC_*']")
  if (landlock !== 'auto' && landlock !== 'off') throw invalidOption("`landlock` must be 'auto' or 'off'")
  return { trust: trustPrograms === 'all' ? 'all' : new Set(trustPrograms), env, landlock, limits }
}

function isProgram(name: unknown): boolean {
  if (typeof name !== 'string' || name === '' || /[\0\s]/.test(name)) return false
  return !name.includes('/') || (name.startsWith('/') && !name.split('/').includes('..'))
}
