import type { FileType } from '../../contract/file-types.ts'
import { baseName, childPath, parentPath } from '../../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'

/** Names in a repository that can make git run programs, each with its placeholder. With an empty `commondir`, git commands would fail. */
const placeholders: Readonly<Record<string, Placeholder>> = {
  hooks: 'directory',
  config: { content: '' },
  'config.worktree': { content: '' },
  commondir: { content: '.\n' }, // @defence another name by which git: all at once
  remotes: 'directory', // @defence another name by which git: all at once
  branches: 'directory',
}
const held = Object.keys(placeholders)
/** The guarded names in a worktree's git directory. The other guarded names lie in the main git directory. */
const heldOfWorktree = ['config.worktree', 'commondir']
/** The guarded names in git directories outside `*.git`. Omits `remotes` and `branches`: a push from there names its destination. */
const heldElsewhere = ['hooks', 'config', 'config.worktree', 'commondir']
const noted = new Set([...held, 'HEAD', 'objects', 'refs'])

/** An empty directory, or a file with the given content. */
export type Placeholder = 'directory' | { readonly content: string }

export interface GitName {
  readonly path: VirtualPath
  readonly usual: VirtualPath
  readonly type: FileType | undefined
  readonly placeholder: Placeholder
}

/** Finds the directories that git accepts as repositories, under any name. */
export class GitDirectories {
  readonly #found = new Map<MountPath, Map<string, FileType>>()

  /** Returns whether the name marks a repository. */
  note(path: MountPath, name: string, type: FileType): boolean {
    if (!noted.has(name)) return false
    const directory = parentPath(path)
    const known = this.#found.get(directory)
    if (known === undefined) this.#found.set(directory, new Map([[name, type]]))
    else known.set(name, type)
    return true
  }

  /** Records a directory called `.git`, which can become a repository. */
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
