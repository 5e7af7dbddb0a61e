import type { AttachedCheckpoints } from '../contract/checkpoint-engine.ts'
import { changesOf } from './changes.ts'
import type { VisibleDifference } from './visible.ts'

const longestDiff = 1024 * 1024

export async function diffText(
  attached: AttachedCheckpoints,
  found: readonly VisibleDifference[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const known = new Map(found.map((difference) => [difference.virtual, difference]))
  let text = ''
  for (const { path: at, from } of changesOf(found)) {
    signal?.throwIfAborted()
    const now = known.get(at)
    if (now === undefined) continue
    const before = from === undefined ? now.before : known.get(from)?.before
    text += await attached.diff({ ...now, before }, { before: from ?? at, after: at })
    if (text.length <= longestDiff) continue
    return `${text.slice(0, longestDiff)}\n[more is different: give a \`path\`]\n`
  }
  return text
}
