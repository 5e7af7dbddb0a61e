export { type LineHit } from './file-scan.ts'
export { createLineMatcher, type LineMatcher, type LineSearchOptions, tooLargeToSearch } from './line-matcher.ts'
