import type { IModule } from 'dependency-cruiser'

/** Folders of one package that import each other. A type may point back, as between files. */
export function folderCircles(modules: readonly IModule[]): string[][] {
  const edges = new Map<string, Set<string>>()
  for (const { source, dependencies } of modules) {
    const from = folderOf(source)
    if (from === undefined) continue
    const reached = edges.get(from) ?? new Set()
    edges.set(from, reached)
    for (const { resolved, dependencyTypes } of dependencies) {
      const to = folderOf(resolved)
      if (to === undefined || to === from || dependencyTypes.includes('type-only')) continue
      if (packageOf(to) === packageOf(from)) reached.add(to)
    }
  }
  return circles(edges)
}

/** The first folder below `src`; the files beside it are a folder each. */
function folderOf(file: string): string | undefined {
  return /^(?:packages|apps)\/[^/]+\/src\/[^/]+/u.exec(file)?.[0]
}

function packageOf(folder: string): string {
  return folder.split('/').slice(0, 2).join('/')
}

/** The folders that reach each other: every group of two or more, by Tarjan's algorithm. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []

  const visit = (node: string): number => {
    const own = order.size
    order.set(node, own)
    lowest.set(node, own)
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      const reached = order.has(next) ? (stack.includes(next) ? (order.get(next) ?? own) : own) : visit(next)
      lowest.set(node, Math.min(lowest.get(node) ?? own, reached))
    }
    if (lowest.get(node) === own) {
      const group = stack.splice(stack.indexOf(node))
      if (group.length > 1) found.push(group.sort())
    }
    return lowest.get(node) ?? own
  }
  for (const node of edges.keys()) if (!order.has(node)) visit(node)
  return found
}
