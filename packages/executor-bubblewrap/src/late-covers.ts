import type { Layout, Placement } from './layout.ts'

/** bubblewrap reads the table of mounts after each part, and takes a descriptor for most. */
const mostParts = 200

/** A layout in two: what bubblewrap mounts, and what covers parts of the finished tree before the command runs. */
export interface LateCovers {
  readonly early: Layout
  readonly late: readonly Placement[]
}

/**
 * Where there are many parts, those that show what is at their place already, or nothing, are mounted in the finished tree. What
 * lies around another part of bubblewrap's stays with that.
 */
export function splitLate(layout: Layout): LateCovers {
  const { placements } = layout
  if (placements.length <= mostParts) return { early: layout, late: [] }
  const again = placements.findIndex(({ show }) => show === 'again')
  const early: Placement[] = []
  const late: Placement[] = []
  const around = new Set<string>()
  const known = new Map(placements.map((placement) => [placement.at, placement]))
  // Children first.
  for (let index = placements.length - 1; index >= 0; index--) {
    const placement = placements[index]
    if (placement === undefined) continue
    const isCover = coversItsPlace(placement) && !isOpened(placement, known) && (again < 0 || index < again)
    if (isCover && !around.has(placement.at)) late.push(placement)
    else {
      early.push(placement)
      for (let at = parentOf(placement.at); at !== '' && !around.has(at); at = parentOf(at)) around.add(at)
    }
  }
  return { early: { ...layout, placements: early.reverse() }, late: late.reverse() }
}

function coversItsPlace({ show, source, beneath }: Placement): boolean {
  if (beneath === undefined) return false
  return show === 'mask' || show === 'empty' || (show === 'source' && source === beneath)
}

/** It can be written and lies in a part that cannot: in the finished tree, only that is to be had. */
function isOpened({ at, readOnly }: Placement, known: ReadonlyMap<string, Placement>): boolean {
  let place = parentOf(at)
  while (place !== '' && !known.has(place)) place = parentOf(place)
  return !readOnly && known.get(place === '' ? '/' : place)?.readOnly === true
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
