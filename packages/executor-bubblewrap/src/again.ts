import type { Layout } from './layout.ts'
import { withoutEntries } from './system-mounts.ts'

/**
 * Where bubblewrap assembles the root, as seen from what it takes sources from. It looks a source up beforehand and, for the
 * `try` kind, takes one that is not there yet as it is written. `..` of its own directories leads there when they exist,
 * and it is not there on a machine that has no `/oldroot/../newroot`. When a version does otherwise, the comparison of the
 * mounts shows it, to the probe as well.
 */
const assembledRoot = '/../oldroot/../newroot'

/**
 * The finished tree at each alias, in one call: mounted singly, everything would be mounted twice, and bubblewrap reads
 * the table of mounts after each. The names of aliases are empty in the copy; the other aliases have their own there.
 */
export function againArguments({ aliases: [first, ...rest] }: Pick<Layout, 'aliases'>): string[] {
  if (first === undefined) return []
  return [
    ...['--dev-bind-try', assembledRoot, first],
    ...[first, ...rest].flatMap((alias) => withoutEntries(first + alias, '0555')),
    ...rest.flatMap((alias) => ['--dev-bind-try', assembledRoot + first, alias]),
  ]
}
