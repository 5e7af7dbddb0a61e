/** Fields and characters count from 1. In `to`, character 0 is the end of the field; in `from`, its start. */
export interface Key {
  readonly from: readonly [field: number, character: number]
  readonly to: readonly [field: number, character: number] | undefined
  readonly flags: string
  readonly skipFrom?: boolean
  readonly skipTo?: boolean
}

/** @returns undefined for an invalid key or an unknown flag */
export function keyOf(text: string, global: string): Key | undefined {
  const [whole, field, character, flags = '', toField, toCharacter, toFlags = ''] =
    /^(\d+)(?:\.(\d+))?([bdfghnr]*)(?:,(\d+)(?:\.(\d+))?([bdfghnr]*))?$/.exec(text) ?? []
  if (whole === undefined || Number(field) === 0 || character === '0') return undefined
  const own = flags + toFlags
  const used = own === '' ? global : own
  return {
    from: [Number(field), Number(character ?? 1)],
    to: toField === undefined ? undefined : [Number(toField), Number(toCharacter ?? 0)],
    flags: used,
    skipFrom: own === '' ? global.includes('b') : flags.includes('b'),
    skipTo: own === '' ? global.includes('b') : toFlags.includes('b'),
  }
}

export function keyText(
  line: string,
  { from, to, skipFrom, skipTo, flags }: Key,
  separator: string | undefined,
): string {
  if (from[0] === 1 && from[1] <= 1 && to === undefined && skipFrom !== true && !flags.includes('b')) return line
  let start = fieldStart(line, from[0], separator)
  if (skipFrom === true) start = skipBlanks(line, start)
  start = Math.min(line.length, start + Math.max(0, from[1] - 1))
  if (to === undefined) return line.slice(start)
  let end: number
  if (to[1] === 0) end = fieldEnd(line, to[0], separator)
  else {
    end = fieldStart(line, to[0], separator)
    if (skipTo === true) end = skipBlanks(line, end)
    end = Math.min(line.length, end + to[1])
  }
  return line.slice(start, Math.max(start, end))
}

/** The start of a field. Without a separator, a field includes its leading blanks. */
function fieldStart(line: string, field: number, separator: string | undefined): number {
  let place = 0
  for (let left = field - 1; left > 0 && place < line.length; left--) {
    if (separator === undefined) {
      place = skipWord(line, skipBlanks(line, place))
    } else {
      const next = line.indexOf(separator, place)
      place = next === -1 ? line.length : next + 1
    }
  }
  return place
}

function fieldEnd(line: string, field: number, separator: string | undefined): number {
  if (separator === undefined) return skipWord(line, skipBlanks(line, fieldStart(line, field, separator)))
  let place = -1
  for (let left = field; left > 0; left--) {
    place = line.indexOf(separator, place + 1)
    if (place === -1) return line.length
  }
  return place
}

function skipBlanks(line: string, place: number): number {
  let at = place
  while (at < line.length && (line[at] === ' ' || line[at] === '\t')) at++
  return at
}

function skipWord(line: string, place: number): number {
  let at = place
  while (at < line.length && line[at] !== ' ' && line[at] !== '\t') at++
  return at
}
