import type { ResolvedOptions } from './options.ts'

/** Programs that agents often call, and that run only where they are trusted. */
export const untrustedPrograms = ['git', 'python3', 'node', 'npm', 'pip', 'make', 'curl'] as const

/** Examples of commands that are refused whatever is trusted: their paths are not known before they run. */
export const unreadable = [
  'cat "$f"',
  'echo $x',
  'f() { ls; }',
  'cat $(ls)',
  'eval ls',
  'source x.sh',
  'ls ..',
] as const

/** For models: the usual programs and forms that are refused, in one sentence. */
export function lacksOf({ trust }: Pick<ResolvedOptions, 'trust'>): string {
  const named = trust === 'all' ? [] : untrustedPrograms.filter((name) => !trust.has(name))
  const programs = named.length === 0 ? '' : `, and runs no ${named.join(', ')} or other program that runs code`
  const forms = unreadable.map((form) => `\`${form}\``).join(', ')
  return `The shell refuses commands whose paths are not known beforehand or lead outside (${forms})${programs}.`
}
