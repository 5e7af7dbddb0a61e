import { describe } from 'vitest'

import { createScratchDirectory, type Owner } from './owner.ts'

type Root = '/' | '/workspace'

/** Defines the executor contract at one root in the short tier, at the other in the deep tier. Two-door tests run at both. */
export function atRoots(quick: Root, define: (roots: readonly Root[]) => void): void {
  const other = quick === '/' ? '/workspace' : '/'
  define([quick])
  describe(`at ${other}`, { tags: ['deep'] }, () => define([other]))
}

/**
 * Stores on the disk for the commands' user. @param open `createLocalAdapter`, since this package imports no adapter
 * @param beside `storesBeside` of the conformance kit
 */
export async function onDisk<Executor, Store, Create>(
  executor: Executor,
  open: (options: { readonly root: string; readonly owner: Owner }) => Promise<Store>,
  beside: (at: (path: string) => Promise<Store>) => Create,
): Promise<{ executor: Executor; createStore: Create; dispose: () => Promise<void> }> {
  const scratch = await createScratchDirectory()
  const createStore = beside(async (path) => open({ root: await scratch.createDirectory(path), owner: scratch.owner }))
  return { executor, createStore, dispose: () => scratch.remove() }
}
