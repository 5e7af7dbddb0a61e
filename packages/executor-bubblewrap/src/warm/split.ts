import type { Layout, Placement } from '../layout.ts'

/** A layout in two: the part that a supervisor keeps, and the part that each spare mounts for its command. */
export interface SplitLayout {
  readonly kept: Layout
  readonly covers: readonly Placement[]
}

/** About as many as a command that starts cold can have. With more, that start says what to do. */
const mostCovers = 200

/**
 * Splits a layout. The directories of mounts are kept. Parts that show what is at their place already (pins, read-only and
 * closed parts, masks) are covers.
 *
 * @returns `undefined` where the order of mounting matters across that border: such a command starts cold
 */
export function splitLayout(layout: Layout): SplitLayout | undefined {
  if (layout.mode !== 'below') return undefined
  const kept: Placement[] = []
  const covers: Placement[] = []
  for (const placement of layout.placements) {
    const around = kept.findLast(({ at }) => isWithin(placement.at, at))
    const shown = around?.source === undefined ? undefined : around.source + placement.at.slice(around.at.length)
    if (placement.source === undefined || (shown !== undefined && placement.source === shown)) {
      // A part cannot be writable below a read-only mount: the kernel locks that for the spare.
      if (around === undefined || (around.readOnly && !placement.readOnly)) return undefined
      covers.push(placement)
      continue
    }
    // A mount over a part under a rule, other than a pin: the cover would come to lie over it, or change its access.
    if (covers.some((cover) => isWithin(placement.at, cover.at) && !isPin(cover))) return undefined
    kept.push(placement)
  }
  return covers.length > mostCovers ? undefined : { kept: { ...layout, placements: kept }, covers }
}

function isPin({ source, readOnly }: Placement): boolean {
  return source !== undefined && !readOnly
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}
