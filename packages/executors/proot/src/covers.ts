import { paths } from '@ws/core'
import type { Bind, BindPlan } from '@ws/core/executor'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createSkeleton } from './skeleton.ts'

/** Empty files and directories of mode 000, shown at denied paths. Under Landlock, commands cannot change them, so they are reused. */
export class Covers {
  readonly #directory: string
  readonly #made = new Map<string, string>()

  constructor(directory: string) {
    this.#directory = directory
  }

  get({ at, type }: Pick<Bind, 'at' | 'type'>): string {
    const key = `${type} ${at}`
    const known = this.#made.get(key)
    if (known !== undefined) {
      // A command of the same uid may have changed the mode.
      chmodSync(known, 0)
      return known
    }
    const path = join(this.#directory, `cover-${this.#made.size}`)
    if (type === 'file') writeFileSync(path, '')
    else mkdirSync(path)
    chmodSync(path, 0)
    this.#made.set(key, path)
    return path
  }
}

/** Makes the cover of a denied directory with allowed parts: only the paths to these parts are visible. */
export function createClosedCover(bind: Bind, plan: BindPlan, path: string): string {
  const inside = plan.binds.filter(({ at }) => at !== bind.at && paths.isWithin(at, bind.at))
  const places = inside.map(({ at, type }) => ({ at: paths.relativeTo(at, bind.at), type }))
  createSkeleton(path, places, [], 0o111)
  return path
}
