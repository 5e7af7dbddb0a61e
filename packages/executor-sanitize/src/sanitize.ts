import type { PathView } from './paths/path-view.ts'
import { parseScript, staticText, visit } from '@ws/command-parser'
import { isInstalled } from './installed.ts'
import { analyseSource } from './commands/analyse.ts'
import { directoryVariable } from './programs/builtins.ts'
import { Edits } from './invocation/edits.ts'
import type { State, Variable } from './invocation/state.ts'

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
  const variables = new Map<string, Variable>(
    Object.entries(env).map(([name, text]): [string, Variable] => [
      name,
      { kind: 'texts', texts: [text], host: false },
    ]),
  )
  const directory = (path: string): Variable => ({ kind: 'texts', texts: [path], host: true })
  variables.set('HOME', directory(view.root))
  variables.set('PWD', directoryVariable(new Set([cwd])))
  if (view.mounts.some(({ at }) => at === '/tmp')) variables.set('TMPDIR', directory('/tmp'))
  variables.set('PATH', { kind: 'opaque', tainted: trust === 'all' })
  const state: State = { cwd: new Set([cwd]), variables, linked: false }
  let moves: boolean | undefined
  analyseSource(source, state, {
    settings: { view, trust, bash, isInstalled, mayMoveFiles: () => (moves ??= movesFiles(source)) },
    edits,
    facts: { links: false, unchecked: false, leaving: new Map() },
    source,
    input: { tainted: false },
    functions: new Set(),
    depth: 0,
  })
  return edits.apply(source)
}

const movers = new Set([
  'rm',
  'rmdir',
  'unlink',
  'chmod',
  'chown',
  'find',
  'ln',
  'mv',
  'tar',
  'unzip',
  'cpio',
  'git',
  'cp',
  'rsync',
  'patch',
  'install',
  'xargs',
  'sh',
  'bash',
  'dash',
])

/** True when a program of the line could take a directory away, or put a link where it was. */
function movesFiles(source: string): boolean {
  let found = false
  visit(parseScript(source), (node) => {
    if (node.type !== 'Command' || node.name === undefined) return
    const name = staticText(node.name)
    if (name === undefined || movers.has(name.slice(name.lastIndexOf('/') + 1))) found = true
  })
  return found
}
