import type { CommandContext } from '../../command-context.ts'
import { renderTable } from '../../terminal/table.ts'
import type { Rules } from './rules.ts'

/** Everything that rules by pattern match now, with the rule. */
export function renderMatches({ matches = [] }: Rules, { output, style }: CommandContext): string {
  if (matches.length === 0) return 'No rule by pattern matches anything now.'
  const rows = matches
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ rule, path }) => [output.name(path), style.dim(rule)])
  return renderTable(rows, { head: [style.strong('matched now'), style.strong('rule')] })
}
