import { isEnvValueReference, SandboxConfigurationError } from '@openai/agents-core/sandbox'
import type { Manifest, SandboxSessionState } from '@openai/agents-core/sandbox'
import {
  deserializeManifest,
  isRecord,
  isStringRecord,
  sanitizeEnvironmentForPersistence,
  serializeManifest,
  serializeMountCredentialRedactionMetadata,
} from '@openai/agents-core/sandbox/internal'

export interface WorkspaceSandboxState extends SandboxSessionState {
  /** The id with which the workspace is opened again. */
  readonly workspaceId: string
  /** Absent: all ports. */
  readonly configuredPorts?: readonly number[]
}

export function serializeState(state: WorkspaceSandboxState): Record<string, unknown> {
  return {
    ...serializeMountCredentialRedactionMetadata(state),
    manifest: serializeManifest(state.manifest),
    workspaceId: state.workspaceId,
    ...(state.configuredPorts && { configuredPorts: [...state.configuredPorts] }),
    environment: sanitizeEnvironmentForPersistence(state),
  }
}

/** Values of the references in the environment. A stored state contains only the references. */
export async function referencesOf({ environment }: Manifest): Promise<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (isEnvValueReference(value)) values[name] = await value.resolve()
  }
  return values
}

/** @throws SandboxConfigurationError for the state of another provider */
export function deserializeState(record: Record<string, unknown>): WorkspaceSandboxState {
  checkState(record)
  const { manifest, environment } = record
  return {
    ...record,
    workspaceId: record.workspaceId,
    manifest: deserializeManifest(isRecord(manifest) ? manifest : undefined),
    environment: isStringRecord(environment) ? { ...environment } : {},
  }
}

export function checkState(
  record: Record<string, unknown>,
): asserts record is Record<string, unknown> & { readonly workspaceId: string } {
  checkPorts(record['configuredPorts'])
  if (typeof record['workspaceId'] === 'string') return
  throw new SandboxConfigurationError(
    'the session state names no workspace: it is not one of this client; create a new session',
  )
}

/** @throws SandboxConfigurationError for a value that is not a list of ports */
export function checkPorts(given: unknown): void {
  const isPort = (port: unknown): boolean => Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535
  if (given === undefined || (Array.isArray(given) && given.every(isPort))) return
  throw new SandboxConfigurationError('`exposedPorts` must be a list of whole numbers from 1 to 65535')
}
