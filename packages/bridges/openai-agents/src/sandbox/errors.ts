import {
  SandboxConfigurationError,
  SandboxExecTransportError,
  SandboxInvalidManifestPathError,
  SandboxLifecycleError,
  SandboxPathResolutionError,
  SandboxProviderError,
  SandboxRuntimeError,
  SandboxUnsupportedFeatureError,
  SandboxWorkspaceReadNotFoundError,
  SandboxWorkspaceRootNotFoundError,
} from '@openai/agents-core/sandbox'
import type { SandboxError } from '@openai/agents-core/sandbox'
import { isWorkspaceError } from '@ws/core'
import type { ErrorCode, WorkspaceError } from '@ws/core'

type Make = (message: string, details: Record<string, unknown>) => SandboxError

const unsupported: Make = (message, details) => new SandboxUnsupportedFeatureError(message, details)
const outside: Make = (message, details) => new SandboxInvalidManifestPathError(message, details)
const transport: Make = (message, details) => new SandboxExecTransportError(message, details)
const configuration: Make = (message, details) => new SandboxConfigurationError(message, details)
const notResolved: Make = (message, details) => new SandboxPathResolutionError(message, details)
const provider: Make = (message, details) => new SandboxProviderError(message, details)

/** Error classes by code; all other codes become a `SandboxRuntimeError`. */
const classes: Readonly<Partial<Record<ErrorCode, Make>>> = {
  ENOENT: (message, details) => new SandboxWorkspaceReadNotFoundError(message, details),
  ENOWORKSPACE: (message, details) => new SandboxWorkspaceRootNotFoundError(message, details),
  ECLOSED: (message, details) => new SandboxLifecycleError(message, details),
  EOUTSIDE: outside,
  EINVAL: notResolved,
  EACCES: notResolved,
  EROFS: notResolved,
  ENOTDIR: notResolved,
  EISDIR: notResolved,
  ELOOP: notResolved,
  ENOTSUP: unsupported,
  ENOEXECUTOR: configuration,
  EUNENFORCEABLE: configuration,
  ENOEXEC: transport,
  EBACKEND: provider,
  EIO: provider,
}

/** Converts an error of the workspace. `details` has our code, path, rule and remedy. */
export function toSandboxError(error: unknown): unknown {
  if (!isWorkspaceError(error)) return error
  const make = classes[error.code] ?? ((message, details) => new SandboxRuntimeError(message, details))
  return make(error.message, detailsOf(error))
}

/** Runs `work`, and converts the workspace's errors to the SDK's classes. */
export async function inSandboxWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw toSandboxError(error)
  }
}

function detailsOf({ code, operation, path, rule, remedy }: WorkspaceError): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({ code, operation, path, rule, remedy }).filter(([, value]) => value !== undefined),
  )
}

/** @throws SandboxUnsupportedFeatureError for a given user: all commands run as the same user */
export function refuseUser(runAs: string | undefined): void {
  if (runAs === undefined || runAs.trim() === '') return
  throw new SandboxUnsupportedFeatureError(
    'commands and files belong to the owner of the workspace, and to no other user; leave out `runAs`',
    { feature: 'runAs' },
  )
}
