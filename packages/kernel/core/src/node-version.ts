// Each entry point imports this module first, so it uses only features of an old Node. Other runtimes have no `process`.

/** The lowest Node version of the packages, as in their `engines`. */
export const lowestNode = '22.18'

const [major = 0, minor = 0] = numbersOf(lowestNode)
const { process: runtime } = globalThis as { process?: { versions?: { node?: string } } }
const given = runtime?.versions?.node
const [ownMajor = 0, ownMinor = 0] = given === undefined ? [Infinity] : numbersOf(given)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  throw new Error(
    `@ws/core needs Node ${lowestNode} or newer, got ${String(given)}; install it from https://nodejs.org`,
  )
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number)
}
