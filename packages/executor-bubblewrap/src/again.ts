import type { Layout } from './layout.ts'
import { withoutEntries } from './system-mounts.ts'

/**
 * The place where bubblewrap assembles the root, as seen from where it takes sources. It looks a source up beforehand.
 * For the `try` kind, it takes a source that does not exist yet as it is written. `..` of its own directories leads
 * there when they exist, and it does not exist on a machine that has no `/oldroot/../newroot`. When a version behaves
 * differently, the comparison of the mounts shows it, to the probe as well.
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
