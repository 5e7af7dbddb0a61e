import type { StorageAdapter } from '@ws/core/adapter'

/** One way to a place that others change too. */
export interface CoherentSide {
  readonly adapter: StorageAdapter
  /** Has it see now what others have changed before. Absent: it always does. */
  readonly refresh?: (() => Promise<void>) | undefined
}

/** Two ways to one place, empty and used by one test alone. */
export interface CoherenceFixture {
  readonly one: CoherentSide
  readonly other: CoherentSide
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface CoherenceSuiteOptions {
  readonly name: string
  readonly create: () => CoherenceFixture | Promise<CoherenceFixture>
}
