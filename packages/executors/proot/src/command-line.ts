import type { ComposedView } from './compose.ts'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * proot's arguments for a view. `-v -1`: only errors on the command's stderr. A `!` after each place stops proot from following a link
 * there.
 * The root is bound last, as `/.`, after all lookups in the skeleton: nothing is created in the workspace, and no link followed.
 * @param directory private to the command, for names that proot's `HOST:GUEST` can hold
 */
export function prootArguments(proot: string, view: ComposedView, directory: string): string[] {
  const bind = (host: string, at: string, index: number) => {
    const guest = at === '/' ? '/.' : `${at}!`
    return ['-b', `${host.includes(':') ? aliasFor(host, join(directory, `source-${index}`)) : host}:${guest}`]
  }
  return [
    proot,
    '-v',
    '-1',
    '-r',
    view.skeleton,
    ...view.binds.flatMap(({ host, at }, index) => bind(host, at, index)),
    '-w',
    '/',
  ]
}

/** proot splits at the first colon, and resolves links before it. */
function aliasFor(host: string, link: string): string {
  symlinkSync(host, link)
  return link
}

/**
 * A prefix for an own PID namespace with its `/proc`, and an own IPC namespace. All its processes end with it or with the starter.
 * An ordinary user needs a user namespace for it, and gains no privilege there.
 */
export function namespacePrefix(): string[] {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']
  const unshare = ['/usr/bin/unshare', ...user, '--pid', '--ipc', '--fork', '--kill-child=KILL', '--mount-proc', '--']
  return ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--', ...unshare]
}
