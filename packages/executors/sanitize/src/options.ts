import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { ExecutorOptions, type Limits } from '@ws/sandbox'

export interface SanitizeExecutorOptions {
  /**
   * Trusted programs that may run code, or that this package does not know: by name (`git`, `npm`), or workspace path (`/scripts/build.sh`).
   * Default: none. The arguments of these programs are not checked: only Landlock confines the programs.
   * `'all'`: every program. The workspace's programs (`.venv/bin`, `node_modules/.bin`) then come first in PATH.
   */
  readonly trustPrograms?: readonly string[] | 'all' | undefined
  /** Names of variables to inherit, or prefixes ending in `*`. Default: language, terminal, time zone. */
  readonly env?: readonly string[] | undefined
  /** `auto` (default): use Landlock if the kernel has it. `off`: only the check of the command text. */
  readonly landlock?: 'auto' | 'off' | undefined
  /** Limits of each process. */
  readonly limits?: Limits.ProcessLimits | undefined
}

export interface ResolvedOptions {
  readonly trust: ReadonlySet<string> | 'all'
  readonly env: readonly string[]
  readonly landlock: 'auto' | 'off'
  readonly limits: Limits.ProcessLimits | undefined
}

const operation = 'createSanitizeExecutor'
const limit = option.integer(0)

const shapes: OptionShapes<SanitizeExecutorOptions> = {
  trustPrograms: {
    must: '`all`, or a list of names and of absolute paths of the workspace',
    accepts: (value) => value === 'all' || Array.isArray(value),
    element: option.of('a name such as `git`, or an absolute path such as `/scripts/build.sh`', isProgram),
  },
  env: ExecutorOptions.environmentNamesShape,
  landlock: option.oneOf('auto', 'off'),
  limits: option.options<Limits.ProcessLimits>({
    fileBytes: limit,
    addressSpaceBytes: limit,
    cpuSeconds: limit,
    openFiles: limit,
    coreBytes: limit,
    processes: limit,
  }),
}

export function resolveOptions(options: SanitizeExecutorOptions): ResolvedOptions {
  ExecutorOptions.refuseNetworkList(options, operation)
  checkOptions<SanitizeExecutorOptions>(options, shapes, { operation })
  const { trustPrograms = [], env = [], landlock = 'auto', limits } = options
  return { trust: trustPrograms === 'all' ? 'all' : new Set(trustPrograms), env, landlock, limits }
}

function isProgram(name: unknown): boolean {
  if (typeof name !== 'string' || name === '' || /[\0\s]/.test(name)) return false
  return !name.includes('/') || (name.startsWith('/') && !name.split('/').includes('..'))
}
