import { refuse } from './refuse.ts'

/** just-bash makes its `require` while loading, and calls it for parts that need Node. */
export const createRequire = (): (() => never) => refuse('module', 'require')
