import { quotePath } from '@ws/core'
import { InvalidArgumentError } from 'commander'

import { UsageError } from '../errors.ts'

/** Collects a repeatable option, for commander. */
export const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value]

export function parseEnvironment(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=')
      if (equals < 1) throw new UsageError(`--env: ${quotePath(text)} is not a variable; give NAME=VALUE`)
      return [text.slice(0, equals), text.slice(equals + 1)]
    }),
  )
}

/** Parses a whole number ≥ 1, for commander. */
export function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new InvalidArgumentError('Give a whole number from 1 on.')
  }
  return count
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Parses `500ms`, `30s` or `5m` for commander. @returns milliseconds */
export function parseTime(text: string): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/u.exec(text) ?? []
  const time = Math.round(Number(amount) * (units[unit] ?? Number.NaN))
  if (!Number.isSafeInteger(time) || time < 1) {
    throw new InvalidArgumentError('Give a time above 0 such as 500ms, 30s or 5m.')
  }
  return time
}
