import type { RestrictionProblem } from '../../contract/bind-plan.ts'
import { childPath, parentPath } from '../../path/virtual-path.ts'
import type { VirtualPath } from '../../path/virtual-path.ts'
import { eachEntry, isGone } from './disk-look.ts'
import type { Match } from './walk-memory.ts'

/** Maximum number of matches that one command covers. Each match makes the start slower. */
export const maxParts = 1000

/**
 * Merges matches if there are too many. A directory full of matches becomes one match. Read-only matches in `.git/modules` become one, too.
 * Each merged match is stricter than the rule: no other entry can be created in that directory.
 */
export async function mergeMatches(matches: readonly Match[]): Promise<readonly Match[]> {
  if (matches.length <= maxParts) return matches
  const places = new Map<VirtualPath, Match[]>()
  for (const match of matches) {
    const place = modulesOf(match) ?? parentPath(match.path)
    const known = places.get(place)
    if (known === undefined) places.set(place, [match])
    else known.push(match)
  }
  const merged: Match[] = []
  for (const [path, inside] of places) {
    const [first] = inside
    const isOne = first !== undefined && (modulesOf(first) === path || (await isFilledBy(path, inside)))
    if (isOne) merged.push({ ...first, path, type: 'directory', placeholder: undefined })
    else merged.push(...inside)
  }
  return merged
}

function modulesOf({ path, type, pattern }: Match): VirtualPath | undefined {
  const at = path.indexOf('/.git/modules/')
  return at < 0 || type === 'symlink' || pattern.rights === 0
    ? undefined
    : (path.slice(0, at + '/.git/modules'.length) as VirtualPath)
}

async function isFilledBy(directory: VirtualPath, matches: readonly Match[]): Promise<boolean> {
  const [first] = matches
  if (first === undefined || matches.length < 2 || directory === first.mount.at) return false
  if (!matches.every(({ pattern, type }) => pattern === first.pattern && type !== 'symlink')) return false
  const left = new Set(matches.map(({ path }) => path))
  let isFilled = true
  try {
    await eachEntry(first.mount, directory, ({ name }) => {
      isFilled &&= left.has(childPath(directory, name))
      return isFilled ? undefined : 'stop'
    })
  } catch (error) {
    if (!isGone(error)) throw error
  }
  return isFilled
}

/** Describes a plan with too many parts: the directories with most parts, and a better rule. */
export function tooManyParts(parts: readonly Match[], isCut: boolean): RestrictionProblem {
  const counts = new Map<VirtualPath, number>()
  for (const { path, mount } of parts) {
    for (let at = parentPath(path); ; at = parentPath(at)) {
      counts.set(at, (counts.get(at) ?? 0) + 1)
      if (at === mount.at || at === '/') break
    }
  }
  // Among equal counts, the deepest directory comes first. No chosen directory lies inside another.
  const most = [...counts].sort(([a, one], [b, other]) => other - one || b.length - a.length)
  const chosen: [VirtualPath, number][] = []
  const roots = new Set(parts.map(({ mount }) => mount.at))
  for (const [path, count] of [...most.filter(([at]) => !roots.has(at)), ...most]) {
    if (chosen.length === 3 || (roots.has(path) && chosen.length > 0)) break
    if (!chosen.some(([at]) => path.startsWith(`${at}/`) || at.startsWith(`${path}/`))) chosen.push([path, count])
  }
  const where = chosen.map(([path, count]) => `${count} in \`${path}\``).join(', ')
  const [best] = chosen
  const rule = parts.some(({ pattern }) => pattern.rights === 0) ? 'deny' : 'readOnly'
  const place = best === undefined || roots.has(best[0]) ? undefined : best[0]
  return {
    reason: `holds ${isCut ? 'more than ' : ''}${parts.length} entries that the rule is about (most: ${where}), and a command can cover ${maxParts}`,
    remedy: `${place === undefined ? `move them into a directory, and cover it by \`rules.${rule}\`` : `cover a whole directory: \`rules.${rule}('${place}')\``}; \`ws doctor --matches\` lists them`,
  }
}
