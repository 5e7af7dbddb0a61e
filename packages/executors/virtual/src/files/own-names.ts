import type { WorkspaceAsyncFiles } from './contract.ts'

/** Finds the system names at which a workspace has its own entries. */
export class OwnNames {
  /** The path of the last lookup, if the workspace has the entry. */
  latest: string | undefined
  readonly #files: Pick<WorkspaceAsyncFiles, 'hasEntry'>
  /** Whether the workspace has each top-level entry. A script asks the workspace once for each name. */
  readonly #known = new Map<string, boolean>()
  #isChanging = false

  constructor(files: Pick<WorkspaceAsyncFiles, 'hasEntry'>) {
    this.#files = files
  }

  /** True if the workspace has the entry at a system name. @param isOffered the interpreter has an entry at the path itself */
  async has(path: string, isOffered: boolean): Promise<boolean> {
    this.latest = undefined
    const top = `/${path.split('/', 2)[1] ?? ''}`
    const known = this.#known.get(top) ?? (await this.#files.hasEntry(top))
    if (!this.#isChanging) this.#known.set(top, known)
    if (!known) return false
    const own = !isOffered || path === top || (await this.#files.hasEntry(path))
    if (own) this.latest = path
    return own
  }

  /** Forgets the known names, when the script makes an entry at a system name. Each later lookup asks the workspace again. */
  forget(): void {
    this.#isChanging = true
    this.#known.clear()
  }
}
