export { hostileNames, hostilePaths } from './paths.ts'
export type { Hostile } from './types.ts'
export { drawAnswer, drawFrom, type OddAnswer, oddAnswers, type OddServer, openOddServer } from './odd-answers.ts'
export { drawRequests } from './odd-requests.ts'
