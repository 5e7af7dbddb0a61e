import type { ComposedView } from './compose.ts'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns proot's arguments for a view. With `-v -1`, proot writes only errors to the command's stderr. A `!` after a path prevents proot
 * from following a link there.
 * The root is bound last, as `/.`, after all lookups in the skeleton: proot then creates no entry in the workspace, and follows no link.
 * @param directory private to the command, for links to host paths that contain a colon
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

/** Makes a link to a host path, without a colon in its name: proot splits at the first colon, and resolves links before splitting. */
function aliasFor(host: string, link: string): string {
  symlinkSync(host, link)
  return link
}

/**
 * Returns a command prefix that creates a PID namespace with its own `/proc`, and an IPC namespace. When the namespace's first process or
 * its starter ends, all inner processes end. An ordinary user also needs a user namespace, which gives no privileges.
 */
export function namespacePrefix(): string[] {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']
  const unshare = ['/usr/bin/unshare', ...user, '--pid', '--ipc', '--fork', '--kill-child=KILL', '--mount-proc', '--'] // @defence `'--ipc', ` memory, semaphores: proot at /workspace, Landlock
  return ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--', ...unshare]
}
