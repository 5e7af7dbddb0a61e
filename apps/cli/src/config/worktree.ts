import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join, posix, resolve } from 'node:path'

import { quotePath, rules, type Rule } from '@ws/core'

import { UsageError } from '../errors.ts'
import { orNothing } from './hard-links.ts'
import { leadsInto } from './host-paths.ts'
import type { MountSettings } from './mounts.ts'
import type { Settings } from './settings.ts'
import { missingRules } from './protection.ts'

/** Limit of bytes in a file that names a directory. */
const longestName = 8192

/**
 * Mounts the repository of a worktree at git's own path, if the root is a worktree. Adds rules for the files that commits change.
 * Commands can write `.git`, so the repository must also name this worktree. @throws UsageError
 */
export function worktreeOf(settings: Settings): { readonly mounts: MountSettings[]; readonly rules: Rule[] } {
  const [first] = settings.mounts
  if (first?.storage.kind !== 'local') throw refused('the root must be a directory of this machine')
  const shown = quotePath(first.storage.shown)
  if (first.at === '/') throw refused('a repository outside has no place below `/`; give --at /workspace')
  const own = orNothing(() => realpathSync(first.storage.kind === 'local' ? first.storage.root : ''))
  const said = /^gitdir: (.+)\n*$/u.exec(nameIn(join(own ?? '', '.git')) ?? '')?.[1]
  if (own === undefined || said === undefined)
    throw refused(`${shown} is not a worktree of git; give the directory that \`git worktree add\` made`)
  const git = orNothing(() => realpathSync(resolve(own, said)))
  const repository = dirname(dirname(git ?? ''))
  if (git?.includes('/modules/') === true && nameIn(join(git, 'commondir')) === undefined)
    throw refused(`${shown} is a submodule; open the repository that it belongs to, and work in it with --cwd`)
  if (git === undefined || !namesWorktree(git, repository, own))
    throw refused(
      `the file .git of ${shown} names no repository that has this worktree; look at it, or run \`git worktree repair\``,
    )
  const inside = settings.mounts.find(({ storage }) => storage.kind === 'local' && leadsInto(repository, storage.root))
  if (inside !== undefined) throw refused(`the repository of ${shown} lies in the workspace; leave the option out`) // @defence that a command has written, in a root: lies in the workspace

  const place = posix.resolve(first.at, said)
  const at = dirname(dirname(place))
  const written = ['objects', 'refs', 'logs'].filter((name) => isDirectory(join(repository, name)))
  const entries = { [at]: 'read-only', [place]: 'read-write' } as const
  const rule = rules.subtree({
    name: 'worktree',
    entries: { ...entries, ...Object.fromEntries(written.map((name) => [join(at, name), 'read-write' as const])) },
    reason: 'belongs to all worktrees of the repository, and is read-only',
    remedy: 'ask the user to change it',
  })
  const storage = { kind: 'local', root: repository, shown: 'the repository of the worktree' } as const
  return { mounts: [{ at, storage }], rules: [rule, ...missingRules(settings, ['protectHooks'])] }
}

/** True if the worktree and the repository name each other, and the repository is complete. */
function namesWorktree(git: string, repository: string, own: string): boolean {
  const common = nameIn(join(git, 'commondir'))?.trim()
  const back = nameIn(join(git, 'gitdir'))?.trim()
  if (common === undefined || back === undefined || basename(dirname(git)) !== 'worktrees') return false
  const isOwn = orNothing(() => realpathSync(dirname(resolve(git, back)))) === own && basename(back) === '.git'
  const isCommon = orNothing(() => realpathSync(resolve(git, common))) === repository
  return isOwn && isCommon && ['objects', 'refs'].every((name) => isDirectory(join(repository, name)))
}

function nameIn(path: string): string | undefined {
  return orNothing(() => {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) // @defence ` | constants.O_NOFOLLOW` that a command has written, in a root: a link in its place
    try {
      const found = fstatSync(descriptor)
      return found.isFile() && found.size <= longestName ? readFileSync(descriptor, 'utf8') : undefined
    } finally {
      closeSync(descriptor)
    }
  })
}

const isDirectory = (path: string): boolean => orNothing(() => lstatSync(path))?.isDirectory() === true

const refused = (reason: string): UsageError => new UsageError(`--with-worktree: ${reason}`)
