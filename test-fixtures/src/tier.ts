/** Each tier runs the tests that the tiers before it leave out: `npm test`, `npm run test:all`, `npm run test:deep`. */
export const tiers = ['short', 'all', 'deep'] as const
export type Tier = (typeof tiers)[number]

/** The tier of this run, which `WS_TIER` names; the short one by default. */
export const tier: Tier = parseTier(process.env['WS_TIER'] ?? 'short')

export const deep: boolean = tier === 'deep'

/** @throws where there is no such tier; the message lists them */
export function parseTier(name: string): Tier {
  const found = tiers.find((one) => one === name)
  if (found === undefined) throw new Error(`there is no tier \`${name}\`: use ${tiers.join(', ')}`)
  return found
}

/** The tier of a test with these tags: `all` and `deep` name it, and a test with both is of the deep one. */
export function tierOf(tags: readonly string[]): Tier {
  return tags.includes('deep') ? 'deep' : tags.includes('all') ? 'all' : 'short'
}

/** A test with the tag `rounds` also runs in the deep tier, for as many rounds as fit into its seconds. */
export function runsIn(of: Tier, tags: readonly string[]): boolean {
  return tierOf(tags) === of || (of === 'deep' && tags.includes('rounds'))
}

/** {@link runsIn} as a filter of vitest. */
export const tagsFilter: string = { short: '!all && !deep', all: 'all && !deep', deep: 'deep || rounds' }[tier]

/** Whether a test file can hold tests of a tier, by its text, so that vitest need not load it. */
export function mayHold(of: Tier, text: string): boolean {
  const [, ofModule] = /^\/\*\*[^/]*@module-tag (\w+)/u.exec(text) ?? []
  const own = ofModule === 'rounds' ? undefined : ofModule
  if (of === 'short') return own === undefined
  const fromHelper = /\btags[A-Z]|\.tags\b/u.test(text)
  if (of === 'all') return own === 'all' || (own === undefined && (fromHelper || /\btags\b.*'all'/u.test(text)))
  return own !== undefined || ofModule === 'rounds' || fromHelper || /\btags\b/u.test(text)
}

export interface Rounds {
  /** How many rounds there are outside of the deep tier. */
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
