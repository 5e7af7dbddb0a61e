import { WorkspaceError } from '@ws/core'
import { noGuarantees, type Executor } from '@ws/core/executor'
import { defineExecutor, unavailable } from '@ws/sandbox'
import type { Experimental_SandboxSession } from 'ai'

import { checkAiSdk } from '../framework.ts'
import { commandsIn } from './command.ts'
import { Copies } from './copies.ts'
import { collect, prepareDirectory } from './tree.ts'

export interface SandboxExecutorOptions {
  /** For messages and results. Default `sandbox`. */
  readonly name?: string | undefined
}

/**
 * Runs the commands of a workspace in a sandbox of the AI SDK, which may be on another machine. The sandbox holds a copy of the
 * workspace below the workspace's root: mount the workspace at a directory that the sandbox can make, such as `/workspace`, and
 * that is empty there.
 *
 * Before a command, changes of the workspace are copied into the sandbox. After it, changes in the sandbox are written through
 * the file API, so that the policy judges each of them. A change that is refused is taken back in the sandbox before the next
 * command. The command fails then, with the path and the reason in its standard error.
 *
 * It declares no guarantee: the sandbox may hold more, but nothing here proves it. So the core refuses commands where rules or
 * read-only mounts must hold, unless the caller acknowledges them. The sandbox stays its creator's to stop.
 *
 * The sandbox needs a POSIX shell and GNU find, and serves one workspace at a time. Commands see each other's files at once. What
 * changes while a command runs crosses when that command ends, or when another one starts.
 *
 * @throws WorkspaceError `EINVAL` for a session of another shape, `ENOTSUP` for a version of the AI SDK that is not supported
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
