/** Estimates the size of a compiled expression from its text. Matching is linear; its constant and the compile time grow with the size. */

/** Maximum of estimated instructions. A class such as `\pL` counts by its characters. */
const maxEstimate = 20_000
const classLength = 40
const maxClasses = 16
/** RE2's maximum for repetitions of repeated parts. */
const maxRepetition = 1000
/** A range is long if its last code point is above this number. Without case, the engine compares each letter of the range. */
const longRange = 0x2000
const maxLongRanges = 2

/** Returns why an expression is too large to compile within milliseconds; `undefined` if it is not. */
export function tooLarge(pattern: string, caseSensitive: boolean): string | undefined {
  const classes = pattern.match(/\\p/gi)?.length ?? 0
  if (classes > maxClasses) return `has more than ${maxClasses} classes such as \`\\pL\``
  const repetition = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
    .map(([, least = '', most]) => Math.max(Number(least), Number(most ?? 0), 1))
    .reduce((product, count) => Math.min(product * count, maxRepetition), 1)
  if ((pattern.length + classes * classLength) * repetition > maxEstimate) return 'repeats too much by its counts'
  if (caseSensitive && !/\(\?[a-z]*i/i.test(pattern)) return undefined
  const ends = [...pattern.matchAll(/-(?:\\x\{([0-9a-f]+)\}|([^\0-\x7f]))/giu)].map(([, hex, character]) =>
    hex === undefined ? (character?.codePointAt(0) ?? 0) : Number.parseInt(hex, 16),
  )
  const long = ends.filter((end) => end > longRange)
  if (long.length > maxLongRanges || long.some((end) => end > 0xffff)) return 'has long ranges, and ignores case'
  return undefined
}
