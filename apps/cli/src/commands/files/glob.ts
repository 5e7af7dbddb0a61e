import { complainTo } from '../../terminal/wrap.ts'
import type { FileContext } from './add.ts'

export interface GlobFlags {
  readonly in?: string
  readonly hidden?: boolean
  readonly null?: true
}

const most = 10_000

export async function glob(
  { workspace, output, signal }: FileContext,
  patterns: readonly string[],
  { in: directory, hidden, null: byNull }: GlobFlags,
): Promise<void> {
  let found = 0
  const options = { in: directory, includeHidden: hidden, maxMatches: most, signal }
  for await (const entry of workspace.glob(patterns, options)) {
    found += 1
    if (output.json) await output.value(entry)
    else if (byNull) await output.content([Buffer.from(`${entry.path}\0`)])
    else await output.line(output.name(entry.path))
  }
  if (found === most) complainTo(process.stderr, `only the first ${most} are shown; give a narrower glob, or --in DIR`)
}
