import type { StorageAdapter } from '@ws/core/adapter'

export interface CoherentSide {
  readonly adapter: StorageAdapter
  /** Makes earlier changes by the other adapter visible. Absent: changes are always visible. */
  readonly refresh?: (() => Promise<void>) | undefined
}

export interface CoherenceFixture {
  readonly one: CoherentSide
  readonly other: CoherentSide
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface CoherenceSuiteOptions {
  readonly name: string
  readonly create: () => CoherenceFixture | Promise<CoherenceFixture>
}
