import type { VirtualPath } from '@ws/core'
import type { CommandRequest } from '@ws/core/executor'

export interface EnvironmentOptions {
  readonly root: VirtualPath
  readonly shell: string
  readonly request: CommandRequest
}

/** The whole environment of a command: nothing of this process's own is in it [RP16]. */
export function commandEnvironment({ root, shell, request }: EnvironmentOptions): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: root,
    USER: 'user',
    LOGNAME: 'user',
    SHELL: shell,
    // Where the interpreter's own commands are.
    PATH: '/usr/bin:/bin',
    ...request.env,
    PWD: request.cwd,
  }
}
