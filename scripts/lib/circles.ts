import type { IModule } from 'dependency-cruiser'

/** Imports between folders, including types: each folder with the folders of its package that it imports. */
export type FolderArrows = ReadonlyMap<string, ReadonlySet<string>>

export function folderArrows(modules: readonly IModule[]): FolderArrows {
  const arrows = new Map<string, Set<string>>()
  for (const { source, dependencies } of modules) {
    const from = folderOf(source)
    if (from === undefined) continue
    const reached = arrows.get(from) ?? new Set()
    arrows.set(from, reached)
    for (const { resolved } of dependencies) {
      const to = folderOf(resolved)
      if (to === undefined || to === from) continue
      if (packageOf(to) === packageOf(from)) reached.add(to)
    }
  }
  return arrows
}

/** The first folder below `src`; each file beside these folders counts as a folder. */
function folderOf(file: string): string | undefined {
  return /^(?:packages|apps|lab)\/(?:[^/]+\/){1,2}src\/[^/]+/u.exec(file)?.[0]
}

function packageOf(folder: string): string {
  return folder.slice(0, folder.lastIndexOf('/src/'))
}

/** Groups of two or more folders that reach each other, by Tarjan's algorithm. */
export function folderCircles(arrows: FolderArrows): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []

  const visit = (node: string): number => {
    const own = order.size
    order.set(node, own)
    lowest.set(node, own)
    stack.push(node)
    for (const next of arrows.get(node) ?? []) {
      const reached = order.has(next) ? (stack.includes(next) ? (order.get(next) ?? own) : own) : visit(next)
      lowest.set(node, Math.min(lowest.get(node) ?? own, reached))
    }
    if (lowest.get(node) === own) {
      const group = stack.splice(stack.indexOf(node))
      if (group.length > 1) found.push(group.sort())
    }
    return lowest.get(node) ?? own
  }
  for (const node of arrows.keys()) if (!order.has(node)) visit(node)
  return found
}
