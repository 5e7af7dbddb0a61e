import type { Session } from '@ws/core'
import { vi } from 'vitest'

export interface Found {
  readonly match: string
  readonly groups: readonly (string | undefined)[]
  /** The output since the last match. */
  readonly before: string
}

/** Byte offsets after the last match. */
const seen = new WeakMap<Session, number>()

/** Waits until the output of a session has something after what was found before. */
export function waitFor(session: Session, pattern: string | RegExp): Promise<Found> {
  const expression = typeof pattern === 'string' ? new RegExp(pattern.replaceAll(/\W/g, String.raw`\$&`)) : pattern
  const since = seen.get(session)
  const look = (): Found => {
    const { text, next } = session.read(since === undefined ? {} : { since })
    const found = expression.exec(text)
    if (found === null) throw new Error(`the session has not printed ${pattern}, but ${JSON.stringify(text)}`)
    const [match, ...groups] = found
    seen.set(session, next - Buffer.byteLength(text.slice(found.index + match.length)))
    return { match, groups, before: text.slice(0, found.index) }
  }
  return vi.waitFor(look, { timeout: 30_000, interval: 20 })
}
