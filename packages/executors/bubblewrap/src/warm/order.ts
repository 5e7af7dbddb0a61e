import { type Layout, type Placement, type SplitLayout, within } from '../view/layout.ts'

/** One command, for a spare. */
export interface WarmOrder {
  readonly argv: readonly string[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Without it, standard input is `/dev/null`. */
  readonly hasInput: boolean
  /** Run at once. Otherwise the spare waits for the word to go, while this process looks at its mounts. */
  readonly atOnce: boolean
  /** In the order of mounting. */
  readonly covers: readonly Placement[]
  /** Where the tree is put together that becomes the root. */
  readonly top?: string | undefined
}

/** Bytes of a command and its environment. */
const longestCommand = 65_536

/** @returns `undefined` for an order that is too long, or that holds a NUL: a spare cannot be given it */
export function encodeOrder({ argv, env, cwd, hasInput, atOnce, covers, top }: WarmOrder): Buffer | undefined {
  const fields = argv.flatMap((argument) => ['a', argument])
  for (const [name, value] of Object.entries(env)) fields.push('e', `${name}=${value}`)
  fields.push('d', cwd)
  if (sizeOf(fields) > longestCommand) return undefined
  for (const cover of covers) fields.push('c', describeCover(cover))
  if (top !== undefined) {
    fields.push('r', top)
    for (const { from = '' } of covers) fields.push('f', from)
  }
  if (hasInput) fields.push('i', '1')
  if (atOnce) fields.push('g', '1')
  if (fields.some((text) => text.includes('\0'))) return undefined
  const order = Buffer.allocUnsafe(4 + sizeOf(fields))
  let at = order.writeUInt32LE(order.length - 4)
  for (const text of fields) {
    const length = order.write(text, at + 4)
    at = order.writeUInt32LE(length, at) + length
  }
  return order
}

/** Each text has its length in front. */
function sizeOf(fields: readonly string[]): number {
  let size = 0
  for (const text of fields) size += 4 + Buffer.byteLength(text)
  return size
}

function describeCover({ at, show, type, source, readOnly }: Placement): string {
  return `${source === undefined || show === 'again' ? show : 'self'} ${type} ${readOnly ? 'ro' : 'rw'} ${at}`
}

/** The supervisor's directory of what goes into the trees of commands: no program of the system has a name like it. */
const sourcesDirectory = '/.sources'

/**
 * Splits a layout into the part that a supervisor keeps, and the covers that each spare mounts for its command. Below a
 * directory, the directories of mounts are kept. Parts that show what is at their place already (pins,
 * read-only and closed parts, masks) are covers. Where the workspace's own directory is the root, all parts are.
 *
 * @returns `undefined` where the order of mounting matters across that border, and for a translated root: such a command starts cold
 */
export function splitForSpare(layout: Layout): SplitLayout | undefined {
  if (layout.mode === 'below') return splitBelow(layout)
  return layout.mode === 'direct' ? splitDirect(layout) : undefined
}

function splitBelow(layout: Layout): SplitLayout | undefined {
  const kept: Placement[] = []
  const covers: Placement[] = []
  for (const placement of layout.placements) {
    const around = kept.findLast(({ at }) => within(placement.at, at))
    const shown = around?.source === undefined ? undefined : around.source + placement.at.slice(around.at.length)
    if (placement.source === undefined || (shown !== undefined && placement.source === shown)) {
      // A part cannot be writable below a read-only mount: the kernel locks that for the spare.
      if (around === undefined || (around.readOnly && !placement.readOnly)) return undefined
      covers.push(placement)
      continue
    }
    // A mount over a part under a rule, other than a pin: the cover would come to lie over it, or change its access.
    if (covers.some((cover) => within(placement.at, cover.at) && !isPin(cover))) return undefined
    kept.push(placement)
  }
  return { mounted: { ...layout, placements: kept }, covers }
}

/** The supervisor keeps each directory at a place of its own, where no name can be taken from it. */
function splitDirect(layout: Layout): SplitLayout {
  const kept: Placement[] = []
  const covers = layout.placements.map((placement): Placement => {
    const { source, show } = placement
    if (show === 'system') return { ...placement, from: placement.at }
    if (source === undefined || show === 'again') return placement
    const around = kept.find((one) => one.source !== undefined && within(source, one.source))
    if (around?.source !== undefined) return { ...placement, from: around.at + source.slice(around.source.length) }
    const at = `${sourcesDirectory}/${kept.length}`
    // Sealed for each command, where it is to be.
    kept.push({ ...placement, at, readOnly: false, beneath: undefined })
    return { ...placement, from: at }
  })
  return { mounted: { ...layout, mode: 'below', aliases: [], placements: kept }, covers, top: `${sourcesDirectory}/0` }
}

function isPin({ source, readOnly }: Placement): boolean {
  return source !== undefined && !readOnly
}
