import { describe, it, type TestFunction, type TestOptions } from 'vitest'

import type { Component } from './components.ts'

/**
 * Skips tests under a title with the reason if a component is missing. The reporter counts the skips.
 * @example describeWith(component('bubblewrap'), 'a sandboxed command', () => { … })
 */
export function describeWith(
  needed: Component | readonly Component[],
  title: string,
  ...rest: [define: () => void] | [options: TestOptions, define: () => void]
): void {
  const [options, define] = rest.length === 1 ? [{}, rest[0]] : rest
  const reason = missing(needed)
  if (reason === undefined) describe(title, options, define)
  else describe.skip(`${title} ${reason}`, options, define)
}

/** `it` with the needed components of {@link describeWith}. */
export function itWith(
  needed: Component | readonly Component[],
  title: string,
  test: TestFunction,
  options: number | TestOptions = {},
): void {
  const reason = missing(needed)
  if (reason === undefined) it(title, withTimeout(options), test)
  else it.skip(`${title} ${reason}`, withTimeout(options), test)
}

const withTimeout = (options: number | TestOptions): TestOptions =>
  typeof options === 'number' ? { timeout: options } : options

/** The note about a missing component. The reporter parses this note in titles. */
function missing(needed: Component | readonly Component[]): string | undefined {
  const list: readonly Component[] = Array.isArray(needed) ? needed : [needed]
  const first = list.find(({ available }) => !available)
  return first === undefined ? undefined : `⟨needs ${first.name}: ${first.reason}⟩`
}
