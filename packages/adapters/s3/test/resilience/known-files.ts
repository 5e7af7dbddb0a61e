import type { Version } from '@ws/core'

/** The state of a path: the id of its content, or ids in the order in which they were appended, or nothing. */
export type FileState = number | `${number}+${string}` | 'absent'

export interface KnownFile {
  readonly state: FileState
  readonly size: number
  /** The version, where the adapter reported it. */
  readonly version?: Version | undefined
}

export const absent: KnownFile = { state: 'absent', size: 0 }

/** The files of a writer, the only one in its directory, as the store has acknowledged them. */
export class KnownFiles {
  readonly #files = new Map<string, KnownFile>()
  readonly #versions = new Map<string, Set<Version>>()

  get(path: string): KnownFile {
    return this.#files.get(path) ?? absent
  }

  set(path: string, file: KnownFile): void {
    this.#files.set(path, file)
    if (file.version === undefined) return
    const versions = this.#versions.get(path) ?? new Set()
    this.#versions.set(path, versions.add(file.version))
  }

  /** A version that the path had once and has no longer. */
  staleVersion(path: string): Version | undefined {
    const { version } = this.get(path)
    return [...(this.#versions.get(path) ?? [])].find((old) => old !== version)
  }

  /** Paths of the files that exist, with their state. */
  present(): [path: string, file: KnownFile][] {
    return [...this.#files].filter(([, { state }]) => state !== 'absent')
  }
}
