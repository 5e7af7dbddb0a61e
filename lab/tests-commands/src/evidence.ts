import { isWorkspaceError, type WorkspaceEntry, type WorkspaceError } from '@ws/core'

import { type Arena, harvest, outsideMode, outsideSize } from './arena.ts'
import type { Counts } from './counts.ts'

export class Evidence {
  readonly #arena: Arena
  readonly #marker: Buffer
  counts: Counts
  readonly findings: string[] = []

  constructor(arena: Arena, counts: Counts) {
    this.#arena = arena
    this.#marker = Buffer.from(arena.marker)
    this.counts = counts
  }

  note(finding: string): void {
    if (this.findings.length < 20) this.findings.push(finding)
  }

  bytes(content: Uint8Array | string): void {
    const bytes = Buffer.from(content)
    if (!bytes.includes(this.#marker)) return
    this.counts.bytes += bytes.length
    this.note(`${bytes.length} bytes from outside were read`)
  }

  name(name: string): void {
    if (!name.includes(`only-${this.#arena.marker}`)) return
    this.counts.names += 1
    this.note(`the name ${name} from outside was listed`)
  }

  stat(stat: Pick<WorkspaceEntry, 'type' | 'size' | 'mode'>): void {
    const isOutside = stat.type === 'directory' ? stat.mode === outsideMode : stat.size === outsideSize
    if (!isOutside) return
    this.counts.names += 1
    this.note('something outside was described')
  }

  /** Records the traces of an operation at a host path inside the workspace that no racer changes. */
  landed(path: string): void {
    const { names, text } = harvest(path)
    for (const name of names) this.name(name)
    this.bytes(text)
  }

  error(error: unknown): void {
    if (isWorkspaceError(error) && !this.#tells(error)) {
      this.counts.refused += 1
      return
    }
    this.counts.untyped += 1
    this.note(`an error that is untyped or tells too much: ${String(error)}`)
  }

  #tells(error: WorkspaceError): boolean {
    const { scratch, marker } = this.#arena
    // the one path with the marker that operations request; an error may repeat that path
    const told = (JSON.stringify(error) + error.stack).replaceAll(askedName(marker), '')
    return told.includes(scratch) || told.includes(marker) || told.includes('/proc/self/fd')
  }
}

/** A name below the root that operations request, and that no inside entry has. */
export function askedName(marker: string): string {
  return `tree/dir/only-${marker}`
}
