import type { StorageAdapter } from '@ws/core/adapter'

export interface CoherentSide {
  readonly adapter: StorageAdapter
  /** Makes earlier changes of the other side show. Absent: they always show. */
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
