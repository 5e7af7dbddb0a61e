import { execError } from '@ws/core/executor'
import { cleanEnvironment } from '@ws/sandbox'

import { systemPath } from './installed.ts'
import type { PathView } from './paths/path-view.ts'

export interface EnvironmentOptions {
  readonly view: PathView
  readonly cwd: string
  readonly cache: string | undefined
  readonly shell: string
  readonly env: Readonly<Record<string, string>>
  readonly allow: readonly string[]
  readonly trustsAll: boolean
  /** True if PATH omits the workspace's programs, even if all programs are trusted. */
  readonly bare: boolean
}

/** Variables that make a shell run commands, or parse in another way. */
const readingVariables =
  /^(?:BASH_ENV|ENV|IFS|CDPATH|GLOBIGNORE|EXECIGNORE|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|BASH_XTRACEFD|PS4|PROMPT_COMMAND|POSIXLY_CORRECT|LD_.*)$/

/**
 * Returns the environment. HOME, PWD and TMPDIR are host paths, because programs open them; outputs show workspace paths. The caller's
 * values override others. @throws WorkspaceError `EINVAL` for a variable that would change how the shell parses the command
 */
export function createEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { view, cwd, cache, shell, env, allow, trustsAll, bare } = options
  const wrong = Object.keys(env).find((name) => readingVariables.test(name) || (name === 'PATH' && !trustsAll))
  if (wrong !== undefined) {
    throw execError(
      'EINVAL',
      `the variable \`${wrong}\` changes what a command means, which is judged before it runs`,
      {
        remedy: 'leave it out, or use an executor with a view (bubblewrap, proot)',
      },
    )
  }
  const home = view.hostOf(view.root) ?? '/'
  const temporary = view.mounts.find(({ at }) => at === '/tmp')?.host
  const own = trustsAll && !bare && !home.includes(':') ? `${home}/.venv/bin:${home}/node_modules/.bin:` : ''
  const clean = cleanEnvironment({
    home,
    pwd: view.hostOf(cwd) ?? home,
    cache: cache === undefined ? undefined : view.hostOf(cache),
    path: own + systemPath,
    shell,
    env: { ...(temporary === undefined ? {} : { TMPDIR: temporary }), ...env },
    allow,
  })
  // As in a view, git does not read the machine's settings.
  return { LANG: 'C.UTF-8', TERM: 'dumb', GIT_CONFIG_NOSYSTEM: '1', ...clean }
}
