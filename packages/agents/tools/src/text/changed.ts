import type { Change } from '@ws/core'
import { showName } from '@ws/core/executor'

/** Limit of changed files named after a command. */
const mostNamed = 20

/** Hides Git's internal files. Hooks and configuration stay visible, since these files affect later commands. */
const gitInternal = /\/\.git(?:\/(?!(?:.*\/)?(?:config|(?:hooks|info)(?:\/.*)?)$).*)?$/u

type Show = (path: string) => string

/** The list of changes after a command's output. */
export function changedList(
  found: readonly Change[],
  { show = showName, rest = 'list the files' }: { readonly show?: Show; readonly rest?: string } = {},
): string {
  const own = found.filter(({ path }) => !gitInternal.test(path))
  const lines = own.length === 0 ? [] : [namedChanges(own, { most: mostNamed, rest, show })]
  if (own.length < found.length) lines.push(`${found.length - own.length} of git's own files`)
  if (found.some(({ shared }) => shared)) lines.push('some of these can be of another command or call that ran then')
  return `[changed:\n${lines.join('\n')}]`
}

export function namedChanges(
  found: readonly Change[],
  { most, rest, show }: { readonly most: number; readonly rest: string; readonly show: Show },
): string {
  const lines = found.slice(0, most).map(({ kind, path, from, what }) => {
    const parts = what === undefined ? '' : ` (${what.join(', ')})`
    return `${kind} ${from === undefined ? '' : `${show(from)} -> `}${show(path)}${parts}`
  })
  const more = found.length - lines.length
  return [...lines, ...(more > 0 ? [`[${more} more: ${rest}]`] : [])].join('\n')
}
