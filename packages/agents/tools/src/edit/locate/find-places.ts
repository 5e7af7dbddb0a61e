import type { Block } from '../block.ts'
import type { Source } from '../source.ts'
import { exactPlaces, lookalikePlaces } from './bytes.ts'
import { linePlaces } from './lines.ts'
import type { BlockRange, Places } from './place.ts'

interface FindOptions {
  /** Only exact places without overlap. Default false. */
  readonly all?: boolean | undefined
  readonly accepts?: ((place: BlockRange) => boolean) | undefined
}

/** Tries the four safe ways in order. The first way with a match decides, however many places match. */
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
  // a text of blanks is only matched exactly: looser ways would match it anywhere
  for (const find of old.trim() === '' ? ways.slice(0, 1) : ways) {
    const found = find()
    const places = accepts === undefined ? found.places : found.places.filter(accepts)
    if (places.length > 0 || found.isMore) return { ...found, places }
  }
  return undefined
}
