import { type Layout, type Placement, type SplitLayout, within } from '../view/layout.ts'

export interface WarmOrder {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** False: standard input is `/dev/null`. */
  readonly hasInput: boolean
  /** True: the command runs immediately. Otherwise the spare waits until this process has checked its mounts. */
  readonly atOnce: boolean
  /** The covers, in the order of mounting. */
  readonly covers: readonly Placement[]
  /** The path at which the root's tree is assembled. */
  readonly top?: string | undefined
}

/** Limit of bytes of a command and its environment. */
const longestCommand = 65_536

/** @returns `undefined` for an order that is too long or contains a NUL: no spare can take such an order */
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

/** The encoded size. The length of each text precedes the text. */
function sizeOf(fields: readonly string[]): number {
  let size = 0
  for (const text of fields) size += 4 + Buffer.byteLength(text)
  return size
}

function describeCover({ at, show, type, source, readOnly }: Placement): string {
  return `${source === undefined || show === 'again' ? show : 'self'} ${type} ${readOnly ? 'ro' : 'rw'} ${at}`
}

/** The supervisor's directory for sources of trees. No program of the system has this name. */
const sourcesDirectory = '/.sources'

/**
 * Splits a layout into the supervisor's part and the covers that each spare mounts for its command.
 * The supervisor mounts directories. Pins, read-only and closed parts, and masks are covers. With a `direct` root, all parts are covers.
 * @returns `undefined` for a cold start: a translated root, or mounts whose order does not allow this split
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
      if (around === undefined || (around.readOnly && !placement.readOnly)) return undefined
      covers.push(placement)
      continue
    }
    // A cover other than a pin would hide this mount, or change its access.
    if (covers.some((cover) => within(placement.at, cover.at) && !isPin(cover))) return undefined
    kept.push(placement)
  }
  return { mounted: { ...layout, placements: kept }, covers }
}

/** Splits a `direct` layout: the supervisor mounts each directory below `/.sources`, where renames have no effect. */
function splitDirect(layout: Layout): SplitLayout {
  const kept: Placement[] = []
  const covers = layout.placements.map((placement): Placement => {
    const { source, show } = placement
    if (show === 'system') return { ...placement, from: placement.at }
    if (source === undefined || show === 'again') return placement
    const around = kept.find((one) => one.source !== undefined && within(source, one.source))
    if (around?.source !== undefined) return { ...placement, from: around.at + source.slice(around.source.length) }
    const at = `${sourcesDirectory}/${kept.length}`
    // Mounted writable: the cover of each command sets the access at its own path.
    kept.push({ ...placement, at, readOnly: false, beneath: undefined })
    return { ...placement, from: at }
  })
  return { mounted: { ...layout, mode: 'below', aliases: [], placements: kept }, covers, top: `${sourcesDirectory}/0` }
}

function isPin({ source, readOnly }: Placement): boolean {
  return source !== undefined && !readOnly
}
