export { type LineHit } from './file-scan.ts'
export { createLineMatcher, type LineMatcher } from './line-matcher.ts'
