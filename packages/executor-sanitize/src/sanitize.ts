import type { PathView } from './paths/path-view.ts'
import { isInstalled } from './installed.ts'
import { analyseSource } from './commands/analyse.ts'
import { Edits } from './invocation/edits.ts'

export interface SanitizeOptions {
  readonly view: PathView
  readonly cwd: string
  readonly trust: ReadonlySet<string> | 'all'
  /** The shell is bash, not another POSIX shell. */
  readonly bash: boolean
  /** The environment that it gets. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * The command with its absolute paths of the workspace put where they really are.
 *
 * @throws Refusal for what cannot be proven to stay inside and to do here what it does in a view
 */
export function sanitize(source: string, options: SanitizeOptions): string {
  const { view, cwd, trust, bash, env } = options
  const edits = new Edits()
  analyseSource(source, {
    settings: { view, trust, bash, isInstalled },
    edits,
    facts: { links: false, unchecked: false },
    place: { cwd: new Set([cwd]), moved: false },
    substituted: { hosts: false },
    constants: new Map(Object.entries(env)),
    source,
    tainted: false,
    depth: 0,
  })
  return edits.apply(source)
}
