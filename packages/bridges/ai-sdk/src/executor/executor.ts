import { WorkspaceError } from '@ws/core'
import { noGuarantees, type Executor } from '@ws/core/executor'
import { defineExecutor, unavailable } from '@ws/sandbox'
import type { Experimental_SandboxSession } from 'ai'

import { checkAiSdk } from '../framework.ts'
import { commandsIn } from './command.ts'
import { Copies } from './copies.ts'
import { collect, prepareDirectory } from './tree.ts'

export interface SandboxExecutorOptions {
  /** The name in messages and results. Default `sandbox`. */
  readonly name?: string | undefined
}

/**
 * Runs a workspace's commands in a sandbox of the AI SDK, on a copy of the workspace. The copy's directory must be empty at first.
 * Before a command, changes of the workspace are copied in. After a command, its changes are written by the file API, under the policy.
 * Refused changes are undone before the next command. The command then fails, with path and reason in its standard error.
 * The executor declares no guarantee. With rules or read-only mounts, the core refuses commands until the caller acknowledges this.
 * The sandbox needs a POSIX shell and GNU find, and serves one workspace at a time. The caller stops the sandbox.
 * Commands see each other's files immediately. Other changes are copied when a command starts or ends.
 * @throws WorkspaceError `EINVAL` for an invalid session, `ENOTSUP` for an unsupported AI SDK
 */
export function createSandboxExecutor(
  session: Experimental_SandboxSession,
  { name = 'sandbox' }: SandboxExecutorOptions = {},
): Executor {
  checkSession(session)
  checkAiSdk('createSandboxExecutor')
  let isAttached = false
  return defineExecutor<Experimental_SandboxSession, true>({
    name,
    kind: 'interpreter',
    async probe() {
      const usable = await collect(session, 'find / -maxdepth 0 -printf x').then(
        () => true,
        () => false,
      )
      return usable ? { found: true } : unavailable('the sandbox runs no GNU find', 'install findutils in the sandbox')
    },
    guarantees: () => noGuarantees,
    async attach({ root, files }) {
      if (root === '/') {
        throw new WorkspaceError({
          code: 'EINVAL',
          operation: 'createWorkspace',
          reason: `the executor ${name} cannot replace \`/\` of its sandbox`,
          remedy: 'mount the workspace at a directory, such as `/workspace`',
        })
      }
      if (isAttached) {
        throw new WorkspaceError({
          code: 'EBUSY',
          operation: 'createWorkspace',
          reason: `the executor ${name} serves another workspace, whose files are in its sandbox`,
          remedy: 'start a sandbox for each workspace',
        })
      }
      isAttached = true
      const onClose = () => void (isAttached = false)
      await prepareDirectory(session, root).catch((error: unknown) => {
        onClose()
        throw error
      })
      return commandsIn({ name, session, copies: new Copies(session, { root, files }), onClose })
    },
  })(session)
}

const methods = [
  'spawn',
  'run',
  'readBinaryFile',
  'writeBinaryFile',
] as const satisfies readonly (keyof Experimental_SandboxSession)[]

function checkSession(session: unknown): void {
  const isSession =
    typeof session === 'object' &&
    session !== null &&
    methods.every((method) => typeof (session as Record<string, unknown>)[method] === 'function')
  if (isSession) return
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'createSandboxExecutor',
    reason: '`session` must be a sandbox session of the AI SDK',
    remedy: `give an object with ${methods.map((method) => `\`${method}\``).join(', ')}`,
  })
}
