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
  /** Milliseconds for one command; the protocol has no timeout. Default 120,000. */
  readonly timeout?: number | undefined
  /** Default: a random id. */
  readonly id?: string | undefined
}

const defaultTimeout = 120_000

/**
 * Makes a workspace's file backend for `createDeepAgent({ backend })` and `CompositeBackend`. Relative paths start at its root.
 * Failures are `{ error }` with code, reason and remedy; no method throws. `glob` gives absolute paths. The caller closes the workspace.
 * @throws WorkspaceError `EINVAL` for another value than a workspace, `ENOTSUP` for an unsupported deepagents
 */
export function createBackend(workspace: Workspace): Required<BackendProtocolV2> {
  check(workspace, 'createBackend')
  return createFiles(workspace, 'absolute')
}

/**
 * Makes the sandbox backend: {@link createBackend} and `execute`. `glob` paths are relative to its base, as in deepagents' sandboxes.
 * A refused command has exit code 126, a command after its timeout 124. The output gives reason and remedy, and the rules behind a failure.
 * @throws WorkspaceError as {@link createBackend}, and `ENOEXECUTOR` without executor
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
        // for a refused command, the protocol has only an exit code
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
