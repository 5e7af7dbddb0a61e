import { refuse } from './refuse.ts'

/** just-bash makes its `require` while it loads, and calls it only for parts that need Node. */
export const createRequire = (): (() => never) => refuse('module', 'require')
