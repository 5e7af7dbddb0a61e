import type { StorageAdapter } from '@ws/core/adapter'

export interface Fault {
  readonly name: string
  readonly caughtBy: string
  readonly apply: (adapter: StorageAdapter) => StorageAdapter
}

/** Copies an adapter, with some methods replaced. The adapter's methods must be plain functions, because the copy loses `this`. */
export function change(inner: StorageAdapter, methods: Partial<StorageAdapter>): StorageAdapter {
  return { ...inner, ...methods }
}
