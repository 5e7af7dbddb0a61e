import type { StorageAdapter } from '@ws/core/adapter'

export interface Fault {
  readonly name: string
  readonly caughtBy: string
  readonly apply: (adapter: StorageAdapter) => StorageAdapter
}

/** The adapter with some methods replaced. The methods are plain functions, since methods of a class would lose their `this`. */
export function change(inner: StorageAdapter, methods: Partial<StorageAdapter>): StorageAdapter {
  return { ...inner, ...methods }
}
