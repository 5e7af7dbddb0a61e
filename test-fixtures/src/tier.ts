/** Test tiers. Each tier runs the tests that earlier tiers leave out: `npm test`, `npm run test:all`, `npm run test:deep`. */
export const tiers = ['short', 'all', 'deep'] as const
export type Tier = (typeof tiers)[number]

/** This run's tier, from `WS_TIER`. Default: short. */
export const tier: Tier = parseTier(process.env['WS_TIER'] ?? 'short')

export const deep: boolean = tier === 'deep'

/** @throws for an unknown tier, with all tiers in the message */
export function parseTier(name: string): Tier {
  const found = tiers.find((one) => one === name)
  if (found === undefined) throw new Error(`there is no tier \`${name}\`: use ${tiers.join(', ')}`)
  return found
}

/** The tier of tags. `deep` wins over `all`. */
export function tierOf(tags: readonly string[]): Tier {
  return tags.includes('deep') ? 'deep' : tags.includes('all') ? 'all' : 'short'
}

/** Whether a tier runs a test. Tests tagged `rounds` also run in the deep tier, for as many rounds as fit. */
export function runsIn(of: Tier, tags: readonly string[]): boolean {
  return tierOf(tags) === of || (of === 'deep' && tags.includes('rounds'))
}

export const tagsFilter: string = { short: '!all && !deep', all: 'all && !deep', deep: 'deep || rounds' }[tier]

/** Whether a file's text has tests of a tier. vitest does not load other files. */
export function mayHold(of: Tier, text: string): boolean {
  const [, ofModule] = /^\/\*\*[^/]*@module-tag (\w+)/u.exec(text) ?? []
  const own = ofModule === 'rounds' ? undefined : ofModule
  if (of === 'short') return own === undefined
  const fromHelper = /\btags[A-Z]|\.tags\b/u.test(text)
  if (of === 'all') return own === 'all' || (own === undefined && (fromHelper || /\btags\b.*'all'/u.test(text)))
  return own !== undefined || ofModule === 'rounds' || fromHelper || /\btags\b/u.test(text)
}

export interface Rounds {
  readonly quick: number
  /** Seconds in the deep tier, default 60. A begun round is completed. */
  readonly seconds?: number
  /** The largest useful number of rounds in the deep tier. */
  readonly most?: number
}

/** Counts rounds from 0; in the deep tier it prints their number. */
export function* rounds({ quick, seconds = 60, most = Infinity }: Rounds): Generator<number, void, undefined> {
  const began = performance.now()
  let round = 0
  while (deep ? round < most && performance.now() - began < seconds * 1000 : round < quick) {
    yield round
    round += 1
  }
  if (deep) console.info(`${round} rounds in ${((performance.now() - began) / 1000).toFixed(0)} s`)
}

/** The rounds for fast-check, as parameters of `assert`. */
export function propertyRounds({ quick, seconds = 60, most = 1_000_000 }: Rounds): {
  numRuns: number
  interruptAfterTimeLimit?: number
  markInterruptAsFailure?: false
} {
  if (!deep) return { numRuns: quick }
  return { numRuns: most, interruptAfterTimeLimit: seconds * 1000, markInterruptAsFailure: false }
}
