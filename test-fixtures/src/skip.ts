import { describe, it, type TestFunction, type TestOptions } from 'vitest'

import type { Component } from './components.ts'

/**
 * `describe` for tests that need components of the machine. Where one is missing, its tests are skipped under a title
 * that says why. The reporter of the shared vitest configuration counts them and prints them at the end of the run.
 *
 * @example
 * describeWith(component('bubblewrap'), 'a sandboxed command', () => { … })
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

/** `it` for a test that needs components of the machine: see {@link describeWith}. */
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

/** The reporter finds this note again in the titles: both sides must agree on its form. */
function missing(needed: Component | readonly Component[]): string | undefined {
  const list: readonly Component[] = Array.isArray(needed) ? needed : [needed]
  const first = list.find(({ available }) => !available)
  return first === undefined ? undefined : `⟨needs ${first.name}: ${first.reason}⟩`
}
