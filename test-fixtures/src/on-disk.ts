import { createScratchDirectory, type Owner } from './owner.ts'
import { deep } from './tier.ts'

/**
 * Where the contract of an executor is tried that works alike at both places: at one in the ordinary tests, at both in the
 * deep run. The two doors, which have paths of their own at each, are always tried at both.
 */
export function executorRoots(one: '/' | '/workspace'): readonly ('/' | '/workspace')[] {
  return deep ? ['/', '/workspace'] : [one]
}

/**
 * Stores on the disk, beside one another, of the user that commands run as.
 *
 * @param open `createLocalAdapter`: this package knows no adapter
 * @param beside `storesBeside` of the kit
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
