import type { AdapterCapabilities } from '@ws/core/adapter'
import { ConformanceError } from '../assert.ts'

/** The capabilities that a test needs: for each, one required value or a list of accepted values. */
export type Needs = {
  readonly [Key in keyof AdapterCapabilities]?: AdapterCapabilities[Key] | readonly AdapterCapabilities[Key][]
}

/** Returns the reason to skip a test: the first capability without a needed value. */
export function lackOf(needs: Needs, capabilities: AdapterCapabilities): string | undefined {
  for (const [name, needed] of Object.entries(needs)) {
    const value = (capabilities as unknown as Record<string, unknown>)[name]
    if (value === undefined) throw new ConformanceError(`the capability \`${name}\` is not declared`)
    const accepted: readonly unknown[] = Array.isArray(needed) ? needed : [needed]
    if (!accepted.includes(value)) return `capability ${name}: ${JSON.stringify(value)}`
  }
  return undefined
}
