import { randomUUID } from 'node:crypto'

import { normalizeSandboxClientCreateArgs, SandboxConfigurationError } from '@openai/agents-core/sandbox'
import type {
  Manifest,
  SandboxArchiveLimits,
  SandboxClient,
  SandboxClientCreateArgs,
  SandboxClientOptions,
  SandboxClientResumeOptions,
} from '@openai/agents-core/sandbox'
import {
  assertHostPathGrantsRebound,
  assertMountCredentialsRebound,
  assertSandboxSessionStateUsable,
  assertSandboxStateGenerationUnchanged,
  captureSandboxStateGeneration,
  validateMountCredentialBoundaries,
} from '@openai/agents-core/sandbox/internal'
import type { Workspace } from '@ws/core'
import { isWorkspace } from '@ws/tools/bridge'

import { checkGiven, checkSdk } from '../workspace.ts'
import { inSandboxWords } from './errors.ts'
import { checkManifest, checkMounts, materialize, requestedMounts, withRoot } from './manifest.ts'
import type { RequestedMount } from './manifest.ts'
import { rootOf } from './paths.ts'
import { WorkspaceSandboxSession } from './session.ts'
import { checkPorts, checkState, deserializeState, referencesOf, serializeState } from './state.ts'
import type { WorkspaceSandboxState } from './state.ts'

export interface WorkspaceRequest {
  /** The id of the workspace, such as the id of a thread. A resumed session has the same id as before. */
  readonly id: string
  /** The mounts of the manifest. The workspace must have mounts with the same paths and access. */
  readonly mounts: readonly RequestedMount[]
}

/** Opens the workspace of a session. The workspace closes with the session. */
export type OpenWorkspace = (request: WorkspaceRequest) => Promise<Workspace> | Workspace

export interface WorkspaceClientOptions extends SandboxClientOptions {
  /** The workspace id of a new session. Default: a random id. */
  readonly id?: string
  /** The only ports that `resolveExposedPort` gives, 1 to 65,535. Default, also for an empty list: all. */
  readonly exposedPorts?: readonly number[]
}

/**
 * Makes the client for `run(agent, input, { sandbox: { client } })`.
 * A given workspace is shared by all sessions; the caller closes it. A given function opens a workspace for each session, also on resume.
 * Files stay in the workspace's store after a session.
 * Manifests may have directories, files, an environment, and mounts that the workspace has. `root` must be the root of the workspace.
 * Users, groups, local sources, repositories and snapshots are refused with a remedy. @throws UserError for another argument
 */
export function createSandboxClient(source: Workspace | OpenWorkspace): WorkspaceSandboxClient {
  checkSdk('createSandboxClient')
  if (typeof source !== 'function') checkGiven(source, 'createSandboxClient')
  return new WorkspaceSandboxClient(source)
}

/** Opens sessions: all on one shared workspace, or each on a workspace of its own. */
export class WorkspaceSandboxClient implements SandboxClient<WorkspaceClientOptions, WorkspaceSandboxState> {
  readonly backendId = 'ws'
  readonly #source: Workspace | OpenWorkspace
  readonly #sessions = new WeakMap<WorkspaceSandboxState, WorkspaceSandboxSession>()

  constructor(source: Workspace | OpenWorkspace) {
    this.#source = source
  }

  async create(
    args?: SandboxClientCreateArgs<WorkspaceClientOptions> | Manifest,
    manifestOptions?: WorkspaceClientOptions,
  ): Promise<WorkspaceSandboxSession> {
    const { manifest, options, snapshot, archiveLimits } = normalizeSandboxClientCreateArgs(args, manifestOptions)
    checkManifest(manifest, snapshot)
    checkPorts(options?.exposedPorts)
    const environment = await manifest.resolveEnvironment()
    const id = options?.id ?? randomUUID()
    return this.#open(manifest, id, async (workspace) => {
      const state = {
        manifest: withRoot(manifest, await rootOf(workspace, manifest.root)),
        workspaceId: id,
        environment,
        ...(options?.exposedPorts?.length && { configuredPorts: [...options.exposedPorts] }),
      }
      for (const [path, entry] of Object.entries(manifest.entries)) await materialize(workspace, path, entry)
      return { state, archiveLimits }
    })
  }

  async resume(
    state: WorkspaceSandboxState,
    { archiveLimits }: SandboxClientResumeOptions<WorkspaceClientOptions> = {},
  ): Promise<WorkspaceSandboxSession> {
    checkState(state)
    assertMountCredentialsRebound(state)
    validateMountCredentialBoundaries(state.manifest)
    assertHostPathGrantsRebound(state)
    checkManifest(state.manifest)
    return this.#open(state.manifest, state.workspaceId, async (workspace) => {
      await rootOf(workspace, state.manifest.root)
      state.environment = { ...state.environment, ...(await referencesOf(state.manifest)) }
      return { state, archiveLimits }
    })
  }

  /** Flushes the workspace, so that a session that resumes elsewhere finds every file. */
  async serializeSessionState(state: WorkspaceSandboxState): Promise<Record<string, unknown>> {
    assertSandboxSessionStateUsable(state)
    const generation = captureSandboxStateGeneration(state)
    const session = this.#sessions.get(state)
    if ((await session?.running()) === true) await inSandboxWords(async () => session?.workspace.flush())
    const serialized = serializeState(state)
    assertSandboxStateGenerationUnchanged(state, generation)
    return serialized
  }

  deserializeSessionState(record: Record<string, unknown>): Promise<WorkspaceSandboxState> {
    return Promise.resolve().then(() => deserializeState(record))
  }

  validateSessionStateForResume({ state }: { readonly state: Record<string, unknown> }): void {
    checkState(state)
  }

  /** Opens a session. If the session fails to start, closes a workspace that was opened for it. */
  async #open(
    manifest: Manifest,
    id: string,
    prepare: (workspace: Workspace) => Promise<{
      readonly state: WorkspaceSandboxState
      readonly archiveLimits: SandboxArchiveLimits | null | undefined
    }>,
  ): Promise<WorkspaceSandboxSession> {
    const source = this.#source
    const mounts = requestedMounts(manifest)
    const owned = typeof source === 'function'
    const workspace = owned ? await inSandboxWords(async () => source({ id, mounts })) : source
    try {
      return await inSandboxWords(async () => {
        if (!isWorkspace(workspace)) {
          throw new SandboxConfigurationError(
            'the function that opens workspaces must give one that `createWorkspace` of @ws/core made',
          )
        }
        await checkMounts(workspace, mounts)
        const session = new WorkspaceSandboxSession({ workspace, owned, ...(await prepare(workspace)) })
        this.#sessions.set(session.state, session)
        return session
      })
    } catch (error) {
      if (owned && isWorkspace(workspace)) await workspace.close()
      throw error
    }
  }
}
