import { type Editor, type ToolOutputImage, UserError } from '@openai/agents-core'
import {
  cloneManifest,
  SandboxConfigurationError,
  SandboxLifecycleError,
  validateSandboxArchiveLimits,
} from '@openai/agents-core/sandbox'
import type {
  ExecCommandArgs,
  ListDirectoryArgs,
  Manifest,
  MaterializeEntryArgs,
  ReadFileArgs,
  SandboxArchiveLimits,
  SandboxDirectoryEntry,
  SandboxExecResult,
  SandboxSession,
  ViewImageArgs,
  WorkspaceArchiveData,
  WorkspaceArchiveOptions,
  WriteStdinArgs,
} from '@openai/agents-core/sandbox'
import {
  assertExistingMountTopologyPreserved,
  assertSandboxSessionStateUsable,
  captureLiveMountCredentialAuthority,
  formatExecResponse,
  mergeManifestDelta,
  mergeManifestEntryDelta,
  validateMountCredentialBoundaries,
  withExclusiveSandboxManifestMutation,
  imageOutputFromBytes,
  MAX_VIEW_IMAGE_BYTES,
} from '@openai/agents-core/sandbox/internal'
import { type Workspace, isWorkspaceError, type ErrorCode } from '@ws/core'
import { readImage as readModelImage } from '@ws/tools/bridge'

import { editorOf } from '../editor.ts'
import { packWorkspace, readArchive, unpackInto } from './archive.ts'
import { inSandboxWords, refuseUser, toSandboxError } from './errors.ts'
import { listDirectory, readBytes, statBehindLinks } from './files.ts'
import { checkManifest, checkMounts, materialize, requestedMounts, unsavedPlaces } from './manifest.ts'
import { logicalPath, workspacePath } from './paths.ts'
import { Processes } from './processes.ts'
import type { WorkspaceSandboxState } from './state.ts'

/** Error texts that the tool `view_image` recognises. */
const missing: Faults = {
  ENOENT: 'Image file not found',
  ENOTDIR: 'Image file not found',
  EISDIR: 'Image path is not a file',
}
const tooLarge: Faults = { EFBIG: 'Image file exceeds the 10 MB limit' }

type Faults = Readonly<Partial<Record<ErrorCode, string>>>

/** @throws UserError with a text that `view_image` recognises; of any other error, `view_image` shows only the name */
async function readImage(workspace: Workspace, path: string, asked: string): Promise<ToolOutputImage> {
  const image = await inImageWords(asked, missing, () => readModelImage(workspace, path))
  if (image !== undefined)
    return { type: 'image', image: { data: Uint8Array.from(image.bytes), mediaType: image.type } }
  return inImageWords(asked, { ...missing, ...tooLarge }, async () => {
    const { bytes } = await workspace.read(path, { maxBytes: MAX_VIEW_IMAGE_BYTES })
    return imageOutputFromBytes(asked, bytes)
  })
}

async function inImageWords<Result>(asked: string, faults: Faults, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    const known = faults[error.code]
    if (known !== undefined) throw new UserError(`${known}: ${asked}`)
    const refusal = new UserError(error.message)
    refusal.name = error.message
    throw refusal
  }
}

export interface SessionOptions {
  readonly workspace: Workspace
  readonly state: WorkspaceSandboxState
  readonly archiveLimits: SandboxArchiveLimits | null | undefined
  readonly owned: boolean
}

/** A sandbox session over a workspace, for files and commands. */
export class WorkspaceSandboxSession implements SandboxSession<WorkspaceSandboxState> {
  readonly state: WorkspaceSandboxState
  readonly workspace: Workspace
  readonly #owned: boolean
  readonly #processes: Processes
  #archiveLimits: SandboxArchiveLimits | null | undefined
  #closing: Promise<void> | undefined

  constructor({ workspace, state, archiveLimits, owned }: SessionOptions) {
    this.workspace = workspace
    this.state = state
    this.#owned = owned
    this.#archiveLimits = archiveLimits
    this.#processes = new Processes(workspace)
  }

  running(): Promise<boolean> {
    return Promise.resolve(this.#closing === undefined)
  }

  /** True with an executor: callers can then poll running commands and write to them. A command may still be refused a terminal. */
  supportsPty(): boolean {
    return this.workspace.executor !== undefined
  }

  /** Gives an address of this machine's loopback for a port on which a command listens. */
  async resolveExposedPort(
    port: number,
  ): Promise<{ readonly host: string; readonly port: number; readonly tls: boolean }> {
    this.#check()
    const { configuredPorts } = this.state
    if (configuredPorts !== undefined && !configuredPorts.includes(port)) {
      throw new SandboxConfigurationError(
        `port ${port} is not one of the session's \`exposedPorts\` (${configuredPorts.join(', ')}); add it there, or leave the option out`,
        { port, configuredPorts },
      )
    }
    return inSandboxWords(async () => {
      const published = async () => (await this.workspace.ports()).find((one) => one.port === port)?.published
      const { hostPort } =
        (await published()) ??
        (await this.workspace.publish(port).catch(async (error: unknown) => {
          // another call has just published it
          const known = isWorkspaceError(error, 'EEXIST') ? await published() : undefined
          if (known === undefined) throw error
          return known
        }))
      if (hostPort === undefined) {
        throw new SandboxConfigurationError(`port ${port} is published at a Unix socket; call \`unpublish\` first`, {
          port,
        })
      }
      return { host: '127.0.0.1', port: hostPort, tls: false }
    })
  }

  /** Works like {@link createEditor}, but refusals suggest an `exec_command` call. */
  createEditor(runAs?: string): Editor {
    this.#check(runAs)
    const nextCall = (command: string): string => `exec_command ${JSON.stringify({ cmd: command })}`
    return editorOf(this.workspace, 'createEditor', nextCall)
  }

  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    this.#check(args.runAs)
    if (this.workspace.executor === undefined) {
      throw new SandboxConfigurationError(
        'the workspace has no executor, so it cannot run commands; pass `executors` to createWorkspace, or work with `apply_patch`',
      )
    }
    return inSandboxWords(() => this.#processes.exec(args, this.state.environment ?? {}))
  }

  async execCommand(args: ExecCommandArgs): Promise<string> {
    return formatExecResponse(await this.exec(args))
  }

  async writeStdin(args: WriteStdinArgs): Promise<string> {
    this.#check()
    return inSandboxWords(() => this.#processes.writeStdin(args))
  }

  /** Refusals use texts of `view_image`, or put our message into the error's name, which the tool shows. */
  async viewImage({ path, runAs }: ViewImageArgs): Promise<ToolOutputImage> {
    this.#check(runAs)
    return readImage(this.workspace, workspacePath(path), path)
  }

  /** Reads the first `maxBytes` of the file. */
  async readFile({ path, maxBytes, runAs }: ReadFileArgs): Promise<Uint8Array> {
    this.#check(runAs)
    return inSandboxWords(() => readBytes(this.workspace, workspacePath(path), maxBytes))
  }

  /** The entries, sorted by name. A link has the type of its target, or `other` for a missing target. */
  async listDir({ path, runAs }: ListDirectoryArgs): Promise<SandboxDirectoryEntry[]> {
    this.#check(runAs)
    return inSandboxWords(() => listDirectory(this.workspace, workspacePath(path)))
  }

  async pathExists(path: string, runAs?: string): Promise<boolean> {
    this.#check(runAs)
    return inSandboxWords(() => this.workspace.exists(workspacePath(path), { followLinks: true }))
  }

  /** False for a denied directory too. */
  async directoryExists(path: string, runAs?: string): Promise<boolean> {
    this.#check(runAs)
    return (await statBehindLinks(this.workspace, workspacePath(path)))?.type === 'directory'
  }

  async materializeEntry({ path, entry, runAs }: MaterializeEntryArgs): Promise<void> {
    this.#check(runAs)
    const given = structuredClone(entry)
    await withExclusiveSandboxManifestMutation(this.state, () =>
      inSandboxWords(async () => {
        const name = await logicalPath(this.workspace, path.trim())
        const merge = (): Manifest => mergeManifestEntryDelta(this.state.manifest, name, given)
        await this.#checkNext(merge())
        await materialize(this.workspace, workspacePath(path), given)
        this.#use(merge())
      }),
    )
  }

  async applyManifest(manifest: Manifest, runAs?: string): Promise<void> {
    this.#check(runAs)
    const given = cloneManifest(manifest)
    await withExclusiveSandboxManifestMutation(this.state, () =>
      inSandboxWords(async () => {
        const merge = (): Manifest => mergeManifestDelta(this.state.manifest, given)
        checkManifest(given)
        await this.#checkNext(merge())
        for (const [path, entry] of Object.entries(given.entries)) await materialize(this.workspace, path, entry)
        this.state.environment = { ...this.state.environment, ...(await given.resolveEnvironment()) }
        this.#use(merge())
      }),
    )
  }

  /** A tar file of the root's tree, without other mounts, ephemeral entries and denied paths. */
  async persistWorkspace(): Promise<Uint8Array> {
    this.#check()
    return inSandboxWords(async () =>
      packWorkspace(this.workspace, await unsavedPlaces(this.workspace, this.state.manifest)),
    )
  }

  /** Replaces the root's tree by a tar file of `persistWorkspace`, after a check of the whole file. */
  async hydrateWorkspace(data: WorkspaceArchiveData, { archiveLimits }: WorkspaceArchiveOptions = {}): Promise<void> {
    this.#check()
    const members = await readArchive(data, archiveLimits === undefined ? this.#archiveLimits : archiveLimits)
    await inSandboxWords(async () =>
      unpackInto(this.workspace, members, await unsavedPlaces(this.workspace, this.state.manifest)),
    )
  }

  setArchiveLimits(limits?: SandboxArchiveLimits | null): void {
    validateSandboxArchiveLimits(limits)
    this.#archiveLimits = limits
  }

  /** Ends running commands, and flushes the store. The session stays usable. */
  async stop(): Promise<void> {
    if (this.#closing !== undefined) return
    await this.#processes.endAll()
    await inSandboxWords(() => this.workspace.flush())
  }

  shutdown(): Promise<void> {
    return this.close()
  }

  delete(): Promise<void> {
    return this.close()
  }

  /** Ends running commands, and closes a workspace that was opened for this session. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#processes.endAll()
    if (this.#owned) await this.workspace.close()
  }

  #check(runAs?: string): void {
    if (this.#closing !== undefined) {
      throw new SandboxLifecycleError('the sandbox session is closed; create or resume one')
    }
    assertSandboxSessionStateUsable(this.state)
    refuseUser(runAs)
  }

  async #checkNext(next: Manifest): Promise<void> {
    assertExistingMountTopologyPreserved(this.state.manifest, next)
    validateMountCredentialBoundaries(next)
    await checkMounts(this.workspace, requestedMounts(next)).catch((error: unknown) => {
      throw toSandboxError(error)
    })
  }

  #use(manifest: Manifest): void {
    this.state.manifest = manifest
    captureLiveMountCredentialAuthority(manifest)
  }
}
