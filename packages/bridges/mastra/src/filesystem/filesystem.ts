import { randomUUID } from 'node:crypto'

import { MastraFilesystem } from '@mastra/core/workspace'
import type {
  CopyOptions,
  FileContent,
  FileEntry,
  FileStat,
  FilesystemGrepOptions,
  FilesystemGrepResult,
  FilesystemInfo,
  ListOptions,
  ProviderStatus,
  ReadOptions,
  RemoveOptions,
  WalkEntry,
  WalkOptions,
  WorkspaceFilesystem,
  WriteOptions,
} from '@mastra/core/workspace'
import type { Workspace } from '@ws/core'
import { describeWorkspace } from '@ws/tools/bridge'

import { checkArguments } from '../framework.ts'
import { inMastraWords } from './errors.ts'
import { grep } from './grep.ts'
import { readDirectory, walk } from './listing.ts'
import { readFile, statFile } from './reading.ts'
import { copyFile, makeDirectory, moveFile, removeDirectory, removeFile } from './removing.ts'
import { SeenVersions } from './seen.ts'
import { appendFile, writeFile } from './writing.ts'

export interface MastraFilesystemOptions {
  /** Default: a random id. */
  readonly id?: string | undefined
}

/**
 * Makes a Mastra workspace's `filesystem` from an @ws workspace. Relative paths start at its root. The caller closes the @ws workspace.
 * Failures have Mastra's error classes, with the workspace's reason and remedy.
 * @throws WorkspaceError `EINVAL` for another value than a workspace, `ENOTSUP` for an unsupported Mastra
 */
export function createMastraFilesystem(
  workspace: Workspace,
  options: MastraFilesystemOptions = {},
): WorkspaceFilesystem {
  checkArguments(workspace, 'createMastraFilesystem')
  return new Filesystem(workspace, options)
}

class Filesystem extends MastraFilesystem {
  readonly id: string
  override readonly name = 'WsFilesystem'
  readonly provider = 'ws'
  readonly displayName = '@ws workspace'
  readonly readOnly: boolean
  status: ProviderStatus = 'pending'
  readonly #workspace: Workspace
  readonly #seen = new SeenVersions()

  constructor(workspace: Workspace, { id = `ws-filesystem-${randomUUID()}` }: MastraFilesystemOptions) {
    super({ name: 'WsFilesystem' })
    this.id = id
    this.#workspace = workspace
    this.readOnly = workspace.mounts.every(({ access }) => access === 'read-only')
  }

  override async init(): Promise<void> {
    // nothing to do: the workspace is open already
  }

  getInfo(): FilesystemInfo {
    const { id, name, provider, readOnly, status } = this
    return { id, name, provider, readOnly, status }
  }

  getInstructions(): string {
    return describeWorkspace(this.#workspace)
  }

  readFile(path: string, options?: ReadOptions): Promise<string | Buffer> {
    return readFile(this.#workspace, path, options)
  }

  writeFile(path: string, content: FileContent, options?: WriteOptions): Promise<void> {
    return writeFile(this.#workspace, this.#seen, path, content, options)
  }

  appendFile(path: string, content: FileContent): Promise<void> {
    return appendFile(this.#workspace, path, content)
  }

  deleteFile(path: string, options?: RemoveOptions): Promise<void> {
    return removeFile(this.#workspace, path, options)
  }

  copyFile(source: string, destination: string, options?: CopyOptions): Promise<void> {
    return copyFile(this.#workspace, source, destination, options)
  }

  moveFile(source: string, destination: string, options?: CopyOptions): Promise<void> {
    return moveFile(this.#workspace, source, destination, options)
  }

  mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    return makeDirectory(this.#workspace, path, options)
  }

  rmdir(path: string, options?: RemoveOptions): Promise<void> {
    return removeDirectory(this.#workspace, path, options)
  }

  readdir(path: string, options?: ListOptions): Promise<FileEntry[]> {
    return readDirectory(this.#workspace, path, options)
  }

  walk(path: string, options?: WalkOptions): Promise<WalkEntry[]> {
    return walk(this.#workspace, path, options)
  }

  grep(options: FilesystemGrepOptions): Promise<FilesystemGrepResult[]> {
    return grep(this.#workspace, options)
  }

  exists(path: string): Promise<boolean> {
    return inMastraWords({ operation: 'exists', path }, () => this.#workspace.exists(path, { followLinks: true }))
  }

  stat(path: string): Promise<FileStat> {
    return statFile(this.#workspace, this.#seen, path)
  }

  realpath(path: string): Promise<string> {
    return inMastraWords({ operation: 'realpath', path }, () => this.#workspace.realPath(path))
  }
}
