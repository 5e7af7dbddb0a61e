// For those who write a factory: its options are checked as those of every other factory.
export { checkOption, checkOptions } from './options/check.ts'
export { adapterShape, durationShape, hasMethods, option } from './options/shapes.ts'
export type { OptionShape, OptionShapes } from './options/shapes.ts'
