export { hostileNames, hostilePaths } from './paths.ts'
export type { Hostile } from './types.ts'
