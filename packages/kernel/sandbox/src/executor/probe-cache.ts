import { statSync } from 'node:fs'

import { systemDirectories } from '../run/find-program.ts'

/** Maximum number of targets. Above it, the oldest target is dropped. */
const mostTargets = 256

/** Caches probes of one kind of executor. An available result is valid while the program files do not change. A failed probe is repeated. */
export class ProbeCache<Outcome extends { readonly found?: unknown }> {
  readonly #programs: readonly string[]
  readonly #directories: readonly string[]
  readonly #known = new Map<string, { readonly programs: string; readonly probing: Promise<Outcome> }>()

  /** `programs`: bare names. `directories`: the directories that contain these programs. */
  constructor(programs: readonly string[], directories = systemDirectories) {
    this.#programs = programs
    this.#directories = directories
  }

  /** @param key must contain every input of the probe */
  get(key: string, probe: () => Promise<Outcome>): Promise<Outcome> {
    const programs = this.#programs.map((program) => identityOf(program, this.#directories)).join(' ')
    const known = this.#known.get(key)
    if (known?.programs === programs) return known.probing
    const entry = { programs, probing: probe() }
    this.#known.delete(key)
    this.#known.set(key, entry)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > mostTargets) this.#known.delete(oldest)
    const forget = () => {
      if (this.#known.get(key) === entry) this.#known.delete(key)
    }
    entry.probing.then(({ found }) => {
      if (found === undefined) forget()
    }, forget)
    return entry.probing
  }
}

/** Identifies the file of a program. Every change of the file changes the result. */
function identityOf(program: string, directories: readonly string[]): string {
  for (const directory of directories) {
    const found = statSync(`${directory}/${program}`, { bigint: true, throwIfNoEntry: false })
    if (found !== undefined) return `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`
  }
  return '-'
}
