import type { ResolvedOptions } from './options.ts'
import { judgedPrograms } from './programs/index.ts'

/** Examples of refused forms, whatever the settings are. */
export const unreadable = [
  'cat "$f"',
  'echo $x',
  'echo "$(ls)"',
  'for f in a b; do ls; done',
  'if true; then ls; fi',
  'f() { ls; }',
  'ls {a,b}',
  'find . -exec ls {} +',
  'eval ls',
  'ls ..',
] as const

/** Returns one sentence for models: the programs that run, and common refused forms. */
export function lacksOf({ trust }: Pick<ResolvedOptions, 'trust'>): string {
  const programs = trust === 'all' ? '' : `runs only ${[...judgedPrograms, ...trust].join(', ')} and `
  const forms = unreadable.map((form) => `\`${form}\``).join(', ')
  return `The shell ${programs}refuses loops, conditions, functions, substitutions, and paths that are not known beforehand or lead outside (${forms}), so each command is written out.`
}
