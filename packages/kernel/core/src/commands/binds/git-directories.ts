import type { FileType } from '../../contract/file-types.ts'
import { baseName, childPath, parentPath } from '../../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'

/**
 * The files by which git finds programs to run in a repository, and what to put in place of a missing one.
 * Each was tried with git: an empty `commondir` ends every git command.
 */
const placeholders: Readonly<Record<string, Placeholder>> = {
  hooks: 'directory',
  config: { content: '' },
  'config.worktree': { content: '' },
  commondir: { content: '.\n' },
  remotes: 'directory',
  branches: 'directory',
}
const held = Object.keys(placeholders)
/** A worktree's git directory, which has the rest in another one. */
const heldOfWorktree = ['config.worktree', 'commondir']
/** A push from there names its destination: git looks for remotes of its own in the repositories that people work in. */
const heldElsewhere = ['hooks', 'config', 'config.worktree', 'commondir']
const noted = new Set([...held, 'HEAD', 'objects', 'refs'])

/** An empty directory, or a file that holds this. */
export type Placeholder = 'directory' | { readonly content: string }

/** A name that git reads in a directory that it takes for a repository. */
export interface GitName {
  readonly path: VirtualPath
  readonly usual: VirtualPath
  /** `undefined`: nothing is there. */
  readonly type: FileType | undefined
  readonly placeholder: Placeholder
}

/** Finds the directories that git takes for repositories, whatever they are called, from the entries of a walk. */
export class GitDirectories {
  readonly #found = new Map<MountPath, Map<string, FileType>>()

  /** @returns whether it is one of the names that tell */
  note(path: MountPath, name: string, type: FileType): boolean {
    if (!noted.has(name)) return false
    const directory = parentPath(path)
    const known = this.#found.get(directory)
    if (known === undefined) this.#found.set(directory, new Map([[name, type]]))
    else known.set(name, type)
    return true
  }

  /** A directory called `.git`, which may be a repository soon. */
  noteNamed(directory: MountPath): void {
    if (!this.#found.has(directory)) this.#found.set(directory, new Map())
  }

  forget(directory: MountPath): void {
    this.#found.delete(directory)
  }

  /** @param toVirtual the virtual path of a directory of the mount */
  *names(toVirtual: (directory: MountPath) => VirtualPath): Generator<GitName> {
    for (const [directory, entries] of this.#found) {
      const at = toVirtual(directory)
      for (const name of namesIn(at, entries)) {
        const placeholder = placeholders[name] ?? 'directory'
        const usual = childPath(childPath(parentPath(at), '.git'), name)
        yield { path: childPath(at, name), usual, type: entries.get(name), placeholder }
      }
    }
  }
}

function namesIn(at: VirtualPath, entries: ReadonlyMap<string, FileType>): readonly string[] {
  const whole = entries.has('objects') && entries.has('refs')
  if (entries.has('HEAD') && (whole || entries.has('commondir'))) {
    if (!whole) return heldOfWorktree
    return isUsual(at) ? held : heldElsewhere
  }
  return baseName(at) === '.git' ? ['hooks'] : []
}

function isUsual(at: VirtualPath): boolean {
  for (let path = at; path !== '/'; path = parentPath(path)) if (baseName(path).endsWith('.git')) return true
  return false
}
