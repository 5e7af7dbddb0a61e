import type { ComposedView } from './compose.ts'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * proot's arguments for a view. `-v -1`: nothing but errors on the command's stderr.
 *
 * Each place ends in `!`: proot does not follow a link there. The root is bound last, as `/.`. By then every other
 * place has been looked up in the skeleton, so nothing is created in the workspace and none of its links is followed.
 *
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

/** proot splits at the first colon, and resolves links in what is before it. */
function aliasFor(host: string, link: string): string {
  symlinkSync(host, link)
  return link
}

/**
 * A prefix that puts a command into a PID namespace of its own, in which `/proc` shows that only, and into an IPC
 * namespace. System V memory and message queues of the host have no names there, and remaining ones go with it. When
 * the starting process or any of these ends, the kernel ends everything in it. An ordinary user needs a user namespace
 * for it, in which it stays what it is and gets no privilege.
 */
export function namespacePrefix(): string[] {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']
  const unshare = ['/usr/bin/unshare', ...user, '--pid', '--ipc', '--fork', '--kill-child=KILL', '--mount-proc', '--']
  return ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--', ...unshare]
}
