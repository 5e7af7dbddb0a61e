export { shortageIn as inText, shortageNamed as named, shortageOf as of, shortError as refusal } from './shortage.ts'
export type { Shortage } from './shortage.ts'
