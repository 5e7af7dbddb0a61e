import type { Pair, Tree } from '../tree.ts'

/**
 * For each group of hard links that is restored, an entry that still is its inode with the same bytes: the other links are made of
 * it. A group without one gets a new inode, by the first of its entries that is restored.
 */
export function findAnchors(tree: Tree, since: number, pairs: readonly Pair[]): Map<string, string> {
  const anchors = new Map<string, string>()
  const groups = new Set(pairs.flatMap(({ before }) => before?.links ?? []))
  for (const links of groups) {
    for (const { path, content } of tree.linksAt(since, links)) {
      const now = tree.live.get(path)
      if (now?.ino !== links || now.content !== content) continue
      anchors.set(links, path)
      break
    }
  }
  return anchors
}
