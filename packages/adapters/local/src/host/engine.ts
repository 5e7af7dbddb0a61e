import type { Calls } from './calls.ts'
import { immediateCalls, pooledCalls } from './calls.ts'
import type { NestedMounts } from './mounts.ts'
import { Pace, slowMountSemaphore } from './pace.ts'

const pooled = pooledCalls()
/** System calls for mounts that may hang. Few run at once, so hanging calls leave threads for other work. */
export const slowMountCalls = pooledCalls(slowMountSemaphore)

export interface Engine {
  /** System calls for names and metadata. They run on this thread unless the disk is slow. */
  readonly calls: Calls
  readonly pooled: Calls
}

const poolOnly: Engine = { calls: pooled, pooled }
const gatedOnly: Engine = { calls: slowMountCalls, pooled: slowMountCalls }

export interface EnginesOptions {
  readonly io: 'auto' | 'async'
  /** True if the root's file system may hang (FUSE, network). */
  readonly slowRoot: boolean
  readonly mounts: NestedMounts
  /** The root's device. Adapters on one disk share the measured pace. */
  readonly device: string
}

const onDisk = new Map<string, LocalEngine>()

function engineOn(device: string): LocalEngine {
  const known = onDisk.get(device) ?? new LocalEngine()
  onDisk.set(device, known)
  return known
}

export class Engines {
  readonly #everywhere: Engine | undefined
  readonly #local: Engine
  readonly #mounts: NestedMounts

  constructor({ io, slowRoot, mounts, device }: EnginesOptions) {
    this.#mounts = mounts
    this.#everywhere = slowRoot ? gatedOnly : undefined
    this.#local = io === 'async' ? poolOnly : engineOn(device)
  }

  /** Selects the engine for an operation. `hostPaths`: the paths on and below which the operation works. */
  for(hostPaths: readonly string[]): Engine {
    if (this.#everywhere !== undefined) return this.#everywhere
    return hostPaths.some((path) => this.#mounts.touchesSlow(path)) ? gatedOnly : this.#local
  }
}

class LocalEngine implements Engine {
  readonly pooled = pooled
  readonly #pace = new Pace()
  readonly #immediate = immediateCalls(this.#pace)

  /** Evaluated for each call: after a slow call, the operation continues on the pool. */
  get calls(): Calls {
    return this.#pace.isSlow ? pooled : this.#immediate
  }
}
