import type { WorkspaceFixture } from '../options/workspace.ts'

/** Makes `createStore` of a fixture, with all stores in one directory. @param open makes an empty store at a path such as `threads/t1` */
export function storesBeside(open: WorkspaceFixture['createStore']): WorkspaceFixture['createStore'] {
  const names = new Map<string, number>()
  return (name) => {
    // a second store with the same name gets its own directory
    const count = (names.get(name) ?? 0) + 1
    names.set(name, count)
    return open(count === 1 ? `threads/${name}` : `threads-${count}/${name}`)
  }
}
