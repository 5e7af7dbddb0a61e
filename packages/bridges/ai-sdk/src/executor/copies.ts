import { isWorkspaceError, type FileDoor, type Version, type VirtualPath, type WorkspaceError } from '@ws/core'
import { execError, quoteForShell } from '@ws/core/executor'
import type { Experimental_SandboxSession } from 'ai'

import { collect, readTree, type Copy, type Tree } from './tree.ts'

export interface CopiesOptions {
  readonly root: VirtualPath
  readonly files: FileDoor
}

interface Known {
  readonly version: Version | undefined
  readonly copy: Copy
}

export interface Refusal {
  readonly path: string
  readonly reason: string
}

/** Limit of characters of a command that removes entries. */
const longestCommand = 32_768

/** Keeps a copy of a workspace in a sandbox. Copies in one direction at a time. */
export class Copies {
  readonly #session: Experimental_SandboxSession
  readonly #root: VirtualPath
  readonly #files: FileDoor
  readonly #known = new Map<string, Known>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(session: Experimental_SandboxSession, { root, files }: CopiesOptions) {
    this.#session = session
    this.#root = root
    this.#files = files
  }

  /** Copies the workspace's changes into the sandbox, after fetching the changes of running commands. */
  bring(signal: AbortSignal | undefined): Promise<void> {
    return this.#alone(async () => {
      await this.#fetch(await this.#tree())
      signal?.throwIfAborted()
      await this.#push(signal)
    })
  }

  /** Writes the sandbox's changes into the workspace. Returns the refused changes. */
  fetch(): Promise<readonly Refusal[]> {
    return this.#alone(async () => this.#fetch(await this.#tree()))
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined) // the caller of `result` receives the error
    return result
  }

  #tree(): Promise<Tree> {
    return readTree(this.#session, this.#root)
  }

  async #fetch(tree: Tree): Promise<readonly Refusal[]> {
    const refusals: Refusal[] = []
    const attempt = async (path: string, work: () => Promise<void>): Promise<void> => {
      try {
        await work()
      } catch (error) {
        if (!isWorkspaceError(error)) throw unreadable(path, error)
        // forgets the workspace's version, so that the next `bring` restores the workspace's state in the sandbox
        const copy = tree.get(path)
        if (copy === undefined) this.#known.delete(path)
        else this.#known.set(path, { version: undefined, copy })
        refusals.push({ path, reason: [error.reason, error.remedy].filter(Boolean).join('; ') })
      }
    }
    const gone = [...this.#known].filter(([path]) => !tree.has(path)).toReversed()
    for (const [path, known] of gone) await attempt(path, () => this.#removed(path, known))
    for (const [path, copy] of tree) {
      const known = this.#known.get(path)
      if (known?.copy.stamp !== copy.stamp) await attempt(path, () => this.#changed(path, copy, known))
    }
    return refusals
  }

  async #removed(path: string, { version, copy }: Known): Promise<void> {
    this.#known.delete(path)
    try {
      await this.#files.delete(path, { force: true, ...(copy.type === 'file' && version && { ifVersion: version }) })
    } catch (error) {
      if (!isWorkspaceError(error, 'ENOTEMPTY')) throw error
    }
  }

  async #changed(path: string, copy: Copy, known: Known | undefined): Promise<void> {
    if (known !== undefined && known.copy.type !== copy.type)
      await this.#files.delete(path, { recursive: true, force: true })
    const before = known?.copy.type === copy.type ? known : undefined
    if (copy.type === 'directory') await this.#files.createDirectory(path)
    else if (copy.type === 'symlink') {
      if (before !== undefined) await this.#files.delete(path)
      await this.#files.createSymlink(path, copy.target)
    } else await this.#write(path, before?.version)
    const isProgram = (copy.mode & 0o100) !== 0
    const wasProgram = before !== undefined && (before.copy.mode & 0o100) !== 0
    if (copy.type === 'file' && isProgram !== wasProgram) await this.#chmod(path, copy.mode)
    const { version } = await this.#files.stat(path)
    this.#known.set(path, { version, copy })
  }

  async #write(path: string, version: Version | undefined): Promise<void> {
    const bytes = await this.#session.readBinaryFile({ path })
    // a running command has removed the file; the next scan finds the removal
    if (bytes === null) return
    await this.#files.write(path, bytes, { ifVersion: version ?? 'absent' })
  }

  async #chmod(path: string, mode: number): Promise<void> {
    await this.#files.chmod(path, mode & 0o777).catch((error: unknown) => {
      if (!isWorkspaceError(error, 'ENOTSUP')) throw error
    })
  }

  async #push(signal: AbortSignal | undefined): Promise<void> {
    const before = await this.#tree()
    const wanted = new Map<string, Version | undefined>()
    const programs: string[] = []
    for await (const entry of this.#files.list(this.#root, { recursive: true, details: true, signal })) {
      const { path, type, version, mode = 0 } = entry
      if (entry.unreachable || type === 'other') continue
      const known = this.#known.get(path)
      const isSame = known !== undefined && known.version === version && known.copy.stamp === before.get(path)?.stamp
      if (!isSame && !(await this.#put(path, type, before.get(path)))) continue
      wanted.set(path, version)
      if (!isSame && type === 'file' && (mode & 0o100) !== 0) programs.push(path)
    }
    await this.#each('chmod +x --', programs)
    await this.#each('rm -rf --', topmost([...before.keys()].filter((path) => !wanted.has(path))))
    const after = await this.#tree()
    this.#known.clear()
    for (const [path, version] of wanted) {
      const copy = after.get(path)
      if (copy !== undefined) this.#known.set(path, { version, copy })
    }
  }

  /** Copies an entry into the sandbox. Returns false if the policy forbids reading the entry. */
  async #put(path: string, type: Copy['type'], there: Copy | undefined): Promise<boolean> {
    const quoted = quoteForShell(path)
    try {
      if (there !== undefined && there.type !== type) await collect(this.#session, `rm -rf -- ${quoted}`)
      if (type === 'directory') {
        await this.#files.list(path).next() // throws for a directory that the policy denies
        await collect(this.#session, `mkdir -p -- ${quoted}`)
      } else if (type === 'symlink') {
        const target = await this.#files.readSymlink(path)
        await collect(this.#session, `ln -sfn -- ${quoteForShell(target)} ${quoted}`)
      } else {
        const { bytes } = await this.#files.read(path)
        await this.#session.writeBinaryFile({ path, content: bytes })
      }
      return true
    } catch (error) {
      if (isWorkspaceError(error) && ['EACCES', 'ENOENT'].includes(error.code)) return false
      throw error
    }
  }

  async #each(command: string, paths: readonly string[]): Promise<void> {
    let line = command
    for (const path of paths) {
      line += ` ${quoteForShell(path)}`
      if (line.length < longestCommand) continue
      await collect(this.#session, line)
      line = command
    }
    if (line !== command) await collect(this.#session, line)
  }
}

function unreadable(path: string, native: unknown): WorkspaceError {
  const reason = 'could not be read in the sandbox'
  return execError('EIO', reason, { path, remedy: 'look at the sandbox', native })
}

/** Drops each path below another path of the list. In the list, a parent must precede the paths below it. */
function topmost(paths: readonly string[]): readonly string[] {
  const kept = new Set<string>()
  return paths.filter((path) => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (kept.has(path.slice(0, end))) return false
    }
    kept.add(path)
    return true
  })
}
