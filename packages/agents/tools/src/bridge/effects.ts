import { escapeUnprintable, showName } from '@ws/core/executor'

import type { ApprovalRequest } from '../types.ts'
import { namedChanges } from '../text/changed.ts'

/** Limit of named changes, hosts and files, each. */
const mostNamed = 20

/**
 * Describes the effects of a call to a person: up to 20 changes, the hosts, and the first lines of the diff.
 * @param diffCharacters the limit of the diff, which is cut at the end of a line
 */
export async function describeEffects(
  { tool, changes, asked, connections, leftOut, diff }: Omit<ApprovalRequest, 'signal'>,
  { diffCharacters }: { readonly diffCharacters: number },
): Promise<string> {
  const list = <Item>(head: string, items: readonly Item[], lineOf: (item: Item) => string): string[] => {
    const lines = items.slice(0, mostNamed).map((item) => `  ${escapeUnprintable(lineOf(item))}`)
    const more = items.length > mostNamed ? [`  [${items.length - mostNamed} more]`] : []
    return items.length === 0 ? [] : [head, ...lines, ...more]
  }
  const shown = changes.length === 0 || diffCharacters === 0 ? '' : cut(await diff(), diffCharacters)
  return [
    `\`${tool}\` ${changes.length === 0 ? 'changed no files' : 'changed these files:'}`,
    ...(changes.length === 0 ? [] : [namedChanges(changes, { most: mostNamed, rest: 'see the diff', show: showName })]),
    ...list('Asked for, and refused by a rule:', asked, ({ rule, path, host, port }) => {
      const place = path ?? `${host}${port === undefined ? '' : `:${port}`}`
      return `${place} (rule ${rule})`
    }),
    ...list('Connections, which cannot be taken back:', connections, ({ host, outcome }) => `${host}: ${outcome}`),
    ...list('Not saved, and cannot be taken back:', leftOut, ({ path, reason }) => `${path}: ${reason}`),
    ...(shown === '' ? [] : ['', shown]),
  ].join('\n')
}

function cut(diff: string, most: number): string {
  const lines = diff.replace(/\n$/u, '').split('\n')
  let length = 0
  const fitting = lines.findIndex((line) => (length += line.length + 1) > most)
  const shown = fitting === -1 ? lines : [...lines.slice(0, fitting), '[more is different]']
  return shown.map((line) => line.split('\t').map(escapeUnprintable).join('\t')).join('\n')
}
