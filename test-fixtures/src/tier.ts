/**
 * The tests of this run: those of `npm test`, or those of `npm run test:deep` (`WS_DEEP=1`), which runs only what
 * differs. A test with the tag `deep` runs in the deep tier alone. One with the tag `rounds` runs in both: a few rounds
 * in `npm test`, and as many as fit into its seconds in the deep tier.
 */
export const deep: boolean = process.env['WS_DEEP'] === '1'

export interface Rounds {
  /** How many rounds there are in `npm test`. */
  readonly quick: number
  /** The time that the deep tier may spend, in seconds; 60 by default. A round that has begun is ended. */
  readonly seconds?: number
  /** The most rounds of the deep tier, where more would find nothing new. */
  readonly most?: number
}

/** Counts from 0 through the rounds of a test with the tag `rounds`; in the deep tier it prints how many there were. */
export function* rounds({ quick, seconds = 60, most = Infinity }: Rounds): Generator<number, void, undefined> {
  const began = performance.now()
  let round = 0
  while (deep ? round < most && performance.now() - began < seconds * 1000 : round < quick) {
    yield round
    round += 1
  }
  if (deep) console.info(`${round} rounds in ${((performance.now() - began) / 1000).toFixed(0)} s`)
}

/** The same for a property of fast-check: the parameters of its `assert`. */
export function propertyRounds({ quick, seconds = 60, most = 1_000_000 }: Rounds): {
  numRuns: number
  interruptAfterTimeLimit?: number
  markInterruptAsFailure?: false
} {
  if (!deep) return { numRuns: quick }
  return { numRuns: most, interruptAfterTimeLimit: seconds * 1000, markInterruptAsFailure: false }
}
