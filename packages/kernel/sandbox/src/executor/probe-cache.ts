import { statSync } from 'node:fs'

import { systemDirectories } from '../run/find-program.ts'

/** Limit of targets. Beyond it, the oldest target is forgotten. */
const mostTargets = 256

/** Probes of one kind of executor. Keeps an available result while the program files are unchanged; repeats a failed probe. */
export class ProbeCache<Outcome extends { readonly found?: unknown }> {
  readonly #programs: readonly string[]
  readonly #directories: readonly string[]
  readonly #known = new Map<string, { readonly programs: string; readonly probing: Promise<Outcome> }>()

  /** `programs`: bare names. `directories`: where they are looked up. */
  constructor(programs: readonly string[], directories = systemDirectories) {
    this.#programs = programs
    this.#directories = directories
  }

  /** @param key contains every input of a probe */
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

/** Identifies the file that a program's name leads to. Every change of the file changes the result. */
function identityOf(program: string, directories: readonly string[]): string {
  for (const directory of directories) {
    const found = statSync(`${directory}/${program}`, { bigint: true, throwIfNoEntry: false })
    if (found !== undefined) return `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`
  }
  return '-'
}
