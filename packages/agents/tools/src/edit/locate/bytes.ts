import type { Source } from '../source.ts'
import { findBytes } from './find-bytes.ts'
import { toPlain } from './lookalike.ts'
import { mostPlaces, type BlockRange, type Places } from './place.ts'

/** The places of a text, byte by byte. With `all`, only places that do not overlap; else every place. */
export function exactPlaces({ text }: Source, old: string, all: boolean): Places {
  const wanted = Buffer.from(old)
  const places: BlockRange[] = []
  let free = 0
  for (const start of findBytes(text, wanted)) {
    if (start < free) continue
    if (places.length === mostPlaces) return { match: 'exact', places, isMore: true }
    const end = start + wanted.length
    places.push({ start, end, lacksFinalLf: false })
    if (all) free = end
  }
  return { match: 'exact', places, isMore: false }
}

/** Places that differ only in look-alike characters; none in content that is not UTF-8. */
export function lookalikePlaces(source: Source, old: string): Places {
  const match = 'lookalike'
  const places: BlockRange[] = []
  if (!source.isUtf8) return { match, places, isMore: false }
  const content = source.text.toString('utf8')
  const searched = toPlain(content)
  const wanted = toPlain(old)
  if (searched === content && wanted === old) return { match, places, isMore: false }
  const plain = Buffer.from(searched)
  let [from, characters, start] = [0, 0, 0]
  for (const at of findBytes(plain, Buffer.from(wanted))) {
    if (places.length === mostPlaces) return { match, places, isMore: true }
    // both texts have the same number of characters, but different numbers of bytes
    const skipped = plain.toString('utf8', from, at).length
    start += Buffer.byteLength(content.slice(characters, characters + skipped))
    characters += skipped
    from = at
    // several places are refused, and the error names only their first lines
    const isFirst = places.length === 0
    const end = isFirst ? start + Buffer.byteLength(content.slice(characters, characters + wanted.length)) : start
    places.push({ start, end, lacksFinalLf: false })
  }
  return { match, places, isMore: false }
}
