import { WorkspaceError } from '@ws/core'
import { execError, quoteForShell } from '@ws/core/executor'
import type { Experimental_SandboxSession } from 'ai'

export interface Copy {
  readonly type: 'file' | 'directory' | 'symlink'
  readonly mode: number
  /** A value that changes with the content, the link target or the mode. */
  readonly stamp: string
  readonly target: string
}

export type Tree = ReadonlyMap<string, Copy>

const types = { f: 'file', d: 'directory', l: 'symlink' } as const

/** Everything below a sandbox's directory by absolute path, parents first, without sockets, FIFOs and devices. */
export async function readTree(session: Experimental_SandboxSession, root: string): Promise<Tree> {
  // a change of a file changes its ctime or inode, which no program can set
  const format = String.raw`%y %m %s %i %C@\0%p\0%l\0`
  const find = `find ${quoteForShell(root)} -mindepth 1 \\( -type f -o -type d -o -type l \\) -printf '${format}'`
  const tree = new Map<string, Copy>()
  const fields = (await collect(session, find)).split('\0')
  if (fields.pop() !== '' || fields.length % 3 !== 0) throw failure('gave an incomplete list of its files')
  for (let index = 0; index < fields.length; index += 3) {
    const [facts = '', path = '', target = ''] = fields.slice(index, index + 3)
    const { type, mode } = /^(?<type>[fdl]) (?<mode>[0-7]+) /u.exec(facts)?.groups ?? {}
    if (type === undefined || mode === undefined) throw failure('gave a list of files that cannot be read')
    if (!isBelow(path, root)) throw failure('names files outside the workspace')
    const kind = types[type as keyof typeof types]
    // the time of a directory changes with its entries, which have their own stamps
    const stamp = kind === 'directory' ? `d ${mode}` : facts
    tree.set(path, { type: kind, mode: Number.parseInt(mode, 8), stamp, target })
  }
  return tree
}

/** True for a path below the root, without `..` or `.`: a sandbox may report any path. */
function isBelow(path: string, root: string): boolean {
  return (
    path.startsWith(`${root}/`) &&
    !path
      .slice(1)
      .split('/')
      .some((name) => ['', '.', '..'].includes(name))
  )
}

/** @throws WorkspaceError `ENOTEMPTY` for a directory with entries, which would be copied to the workspace */
export async function prepareDirectory(session: Experimental_SandboxSession, root: string): Promise<void> {
  await collect(session, `mkdir -p ${quoteForShell(root)}`)
  if ((await readTree(session, root)).size === 0) return
  throw new WorkspaceError({
    code: 'ENOTEMPTY',
    operation: 'createWorkspace',
    path: root,
    reason: 'is not empty in the sandbox',
    remedy: 'start a new sandbox, or empty the directory there',
  })
}

/** Runs one of this package's commands, and returns its output, in which names must be UTF-8. */
export async function collect(session: Experimental_SandboxSession, command: string): Promise<string> {
  const process = await session.spawn({ command })
  const [bytes, said, { exitCode }] = await Promise.all([
    new Response(process.stdout).bytes(),
    new Response(process.stderr).text(),
    process.wait(),
  ])
  if (exitCode !== 0) throw failure(`failed at \`${command.split(' ', 1)[0] ?? ''}\`: ${said.trim().slice(0, 200)}`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw failure('has a file whose name is not UTF-8')
  }
}

function failure(what: string): WorkspaceError {
  return execError('EIO', `the sandbox ${what}`, { remedy: 'look at the sandbox, or start a new one' })
}
