import type { Block } from '../block.ts'
import type { Source } from '../source.ts'
import { exactPlaces, lookalikePlaces } from './bytes.ts'
import { linePlaces } from './lines.ts'
import type { Place, Places } from './place.ts'

interface FindOptions {
  /** Exact places that do not overlap, rather than each. Default false. */
  readonly all?: boolean | undefined
  /** Leaves out other places. Default: all may match. */
  readonly accepts?: ((place: Place) => boolean) | undefined
}

/** Looks for a block in the four safe ways. The first way that finds anything decides, however many places it finds. */
export function findPlaces(
  source: Source,
  block: Block,
  { all = false, accepts }: FindOptions = {},
): Places | undefined {
  const { old, wholeLines } = block
  const ways: readonly (() => Places)[] = [
    () => (wholeLines ? linePlaces(source, block, 'exact', accepts) : exactPlaces(source, old, all)),
    () => linePlaces(source, block, 'trailing', accepts),
    () => (wholeLines ? linePlaces(source, block, 'lookalike', accepts) : lookalikePlaces(source, old)),
    () => linePlaces(source, block, 'indent', accepts),
  ]
  // blanks alone are found in the strictest way only: they would match anywhere
  for (const find of old.trim() === '' ? ways.slice(0, 1) : ways) {
    const found = find()
    const places = accepts === undefined ? found.places : found.places.filter(accepts)
    if (places.length > 0 || found.isMore) return { ...found, places }
  }
  return undefined
}
