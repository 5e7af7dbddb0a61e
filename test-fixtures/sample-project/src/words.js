/** @import { Counts } from './types.ts' */

/** Splits at white space and counts; `normalise` may drop a word by making it empty. */
export function countWords(text, normalise = (word) => word.toLowerCase()) {
  /** @type {Counts} */
  const counts = {}
  for (const word of text.split(/\s+/u).map(normalise)) {
    if (word !== '') counts[word] = (counts[word] ?? 0) + 1
  }
  return counts
}
