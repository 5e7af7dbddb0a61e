import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { HiddenNames } from '../hide/hide.ts'
import type { Layout, Placement } from '../view/layout.ts'

/** A part of a layout that a spare mounts for its command. */
export interface Cover extends Pick<Placement, 'at' | 'show' | 'type' | 'source' | 'readOnly'> {
  /** A path of the supervisor's tree that it shows. Absent: the entry at its own place. */
  readonly from?: string | undefined
}

/** A layout in two: the part that a supervisor keeps, and the part that each spare mounts for its command. */
export interface SplitLayout {
  readonly kept: Layout
  readonly covers: readonly Cover[]
  /** Where the tree of a command is put together, in that of the supervisor. Absent: it is that of the supervisor. */
  readonly top?: string | undefined
  /** The listings of such a command are watched. */
  readonly hidden?: HiddenNames | undefined
}

/** The supervisor's directory of what goes into the trees of commands: no program of the system has a name like it. */
const sourcesDirectory = '/.sources'

/**
 * Splits a layout. Below a directory, the directories of mounts are kept. Parts that show what is at their place already (pins,
 * read-only and closed parts, masks) are covers. Where the workspace's own directory is the root, all parts are.
 *
 * @returns `undefined` where the order of mounting matters across that border, and for a translated root: such a command starts cold
 */
export function splitLayout({ layout, direct }: Pick<SandboxCommand, 'layout' | 'direct'>): SplitLayout | undefined {
  if (layout.mode === 'below') return splitBelow(layout)
  return layout.mode === 'direct' ? { ...splitDirect(layout), hidden: direct?.hidden } : undefined
}

function splitBelow(layout: Layout): SplitLayout | undefined {
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
  return { kept: { ...layout, placements: kept }, covers }
}

/** The supervisor keeps each directory at a place of its own, where no name can be taken from it. */
function splitDirect(layout: Layout): SplitLayout {
  const kept: Placement[] = []
  const covers = layout.placements.map((placement): Cover => {
    const { source, show } = placement
    if (show === 'system') return { ...placement, from: placement.at }
    if (source === undefined || show === 'again') return placement
    const around = kept.find((one) => one.source !== undefined && isWithin(source, one.source))
    if (around?.source !== undefined) return { ...placement, from: around.at + source.slice(around.source.length) }
    const at = `${sourcesDirectory}/${kept.length}`
    // Sealed for each command, where it is to be.
    kept.push({ ...placement, at, readOnly: false, beneath: undefined })
    return { ...placement, from: at }
  })
  return { kept: { ...layout, mode: 'below', aliases: [], placements: kept }, covers, top: `${sourcesDirectory}/0` }
}

function isPin({ source, readOnly }: Placement): boolean {
  return source !== undefined && !readOnly
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
}
