export { binarySniffBytes, maxLineBytes, type LineHit } from './file-scan.ts'
export { createLineMatcher, type LineMatcher, type LineSearchOptions } from './line-matcher.ts'
export { type PatternOptions } from './pattern.ts'
export { columnAt, cutLine, maxLineCharacters } from './text.ts'
