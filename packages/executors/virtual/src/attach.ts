import type { VirtualPath } from '@ws/core'
import { type CommandRequest, execError } from '@ws/core/executor'
import { verdictOf } from '@ws/network/gate'
import type { CommandDriver, PreparedCommand } from '@ws/sandbox'

import { lacksOf } from './lacks.ts'
import { startCommand, type StartOptions } from './run/command.ts'

const offered = /^(?:(?:\/usr)?\/bin\/)?(bash|sh)$/
const known = /(?:^|\/)(?:zsh|dash|ksh|mksh|ash|fish|csh|tcsh)$/

/** The path of a command's shell; bash and sh share one interpreter. @throws WorkspaceError `ENOEXEC` for another shell, `EINVAL` */
function checkShell(shell = 'bash'): string {
  const [, name] = offered.exec(shell) ?? []
  if (name !== undefined) return `/bin/${name}`
  const remedy = 'leave `shell` out, or give bash or sh'
  if (known.test(shell))
    throw execError('ENOEXEC', 'the interpreter understands bash and sh, and no other shell', { remedy })
  throw execError('EINVAL', 'this is not a shell that the interpreter knows', { remedy })
}

export interface AttachOptions
  extends Pick<StartOptions, 'files' | 'topEntries' | 'pool' | 'limits' | 'network' | 'pythons'> {}

interface Prepared extends PreparedCommand, Pick<StartOptions, 'plan' | 'env' | 'files'> {}

/** Milliseconds to wait after the last signal for the end of a store's change, and for the end of the thread. */
const patience = 15_000

export function attachVirtual(options: AttachOptions): CommandDriver {
  const { network, pythons } = options
  return {
    facts: {
      lacks: lacksOf({ curl: network !== undefined, python3: pythons !== undefined }),
      ...(network && { explainConnection: verdictOf(network.network.list) }),
    },
    patience,
    async prepare(plan, request): Promise<Prepared> {
      const shell = checkShell(request.shell)
      const { files = options.files } = request
      return { plan, env: commandEnvironment({ root: plan.root, shell, request }), files }
    },
    start: async (prepared, run) => startCommand({ ...options, ...(prepared as Prepared), run }),
  }
}

interface EnvironmentOptions {
  readonly root: VirtualPath
  readonly shell: string
  readonly request: CommandRequest
}

/** The whole environment of a command, without the variables of this process [RP16]. */
function commandEnvironment({ root, shell, request }: EnvironmentOptions): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: root,
    USER: 'user',
    LOGNAME: 'user',
    SHELL: shell,
    // The interpreter's own commands are in these directories.
    PATH: '/usr/bin:/bin',
    ...request.env,
    PWD: request.cwd,
  }
}
