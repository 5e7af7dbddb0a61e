import { randomUUID } from 'node:crypto'

import type { Workspace } from '@ws/core'
import { WorkspaceError } from '@ws/core'
import { checkExecutor, checkFramework, checkWorkspace, runCommand, wordsOf } from '@ws/tools/bridge'
import type { BackendProtocolV2, SandboxBackendProtocolV2 } from 'deepagents'

import { createEdit } from './editing.ts'
import { createFinding } from './finding.ts'
import { withOwnDirectories } from './own-directories.ts'
import { createReading } from './reading.ts'
import { createTransfers } from './transfers.ts'
import { createWriting } from './writing.ts'

export interface SandboxBackendOptions {
  /** Milliseconds that one command may take; the protocol itself knows no timeout. Default 120,000. */
  readonly timeout?: number | undefined
  /** A name of your own. Default: a random one. */
  readonly id?: string | undefined
}

const defaultTimeout = 120_000

/**
 * Makes the file backend of a workspace, for `createDeepAgent({ backend })` and `CompositeBackend`. Its paths are those of the
 * workspace; a relative one starts at the workspace's root. Faults are `{ error }` with code, reason and remedy; no method throws.
 * `glob` gives absolute paths. The workspace stays its creator's to close.
 *
 * @throws WorkspaceError `EINVAL` for a value that is not a workspace, `ENOTSUP` for a version of deepagents that is not supported
 */
export function createBackend(workspace: Workspace): Required<BackendProtocolV2> {
  check(workspace, 'createBackend')
  return createFiles(workspace, 'absolute')
}

/**
 * Makes the sandbox backend of a workspace: the files of {@link createBackend}, and `execute` on the same files. `glob` gives
 * paths relative to its base, as the sandboxes of deepagents do.
 *
 * A command that the workspace refuses has the exit code 126, and a command that took too long 124. Its output gives the reason
 * and the remedy. The output of a failed command also names the rules that it ran into.
 *
 * @throws WorkspaceError as {@link createBackend}, and `ENOEXECUTOR` for a workspace without executor
 */
export function createSandboxBackend(
  workspace: Workspace,
  { timeout = defaultTimeout, id = `ws-${randomUUID()}` }: SandboxBackendOptions = {},
): Required<SandboxBackendProtocolV2> {
  check(workspace, 'createSandboxBackend')
  checkExecutor(workspace, 'createSandboxBackend')
  if (!Number.isSafeInteger(timeout) || timeout < 1) {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'createSandboxBackend',
      reason: '`timeout` must be a whole number from 1',
      remedy: 'give milliseconds',
    })
  }
  return {
    id,
    ...createFiles(workspace, 'relative'),
    async execute(command) {
      try {
        const { output, exitCode, truncated } = await runCommand(workspace, command, { timeout })
        return { output, exitCode, truncated }
      } catch (error) {
        // the protocol has no place for an error: the exit code of a command that was not run
        return { output: `${wordsOf(error)}\n`, exitCode: 126, truncated: false }
      }
    },
  }
}

function check(workspace: unknown, operation: string): asserts workspace is Workspace {
  checkWorkspace(workspace, operation)
  checkFramework(operation, { name: 'deepagents', from: '1.14.1', importer: import.meta.url })
}

function createFiles(workspace: Workspace, globPaths: 'absolute' | 'relative'): Required<BackendProtocolV2> {
  return withOwnDirectories(workspace, {
    ...createFinding(workspace, globPaths),
    ...createReading(workspace),
    ...createWriting(workspace),
    ...createTransfers(workspace),
    edit: createEdit(workspace),
  })
}
