import { execError } from '@ws/core/executor'

const offered = /^(?:(?:\/usr)?\/bin\/)?(bash|sh)$/
const known = /(?:^|\/)(?:zsh|dash|ksh|mksh|ash|fish|csh|tcsh)$/

/**
 * The path of the shell that a command takes for its own. There is one interpreter, which is bash's and sh's.
 *
 * @throws WorkspaceError `ENOEXEC` for another shell, `EINVAL` for a value that is not a shell.
 */
export function checkShell(shell = 'bash'): string {
  const [, name] = offered.exec(shell) ?? []
  if (name !== undefined) return `/bin/${name}`
  const remedy = 'leave `shell` out, or give bash or sh'
  if (known.test(shell))
    throw execError('ENOEXEC', 'the interpreter understands bash and sh, and no other shell', { remedy })
  throw execError('EINVAL', 'this is not a shell that the interpreter knows', { remedy })
}
