import { realpathSync } from 'node:fs'

import { paths, type VirtualPath } from '@ws/core'
import { type ConfinedTarget, findProgram, howToInstall, type Probed, unavailable } from '@ws/sandbox'

import { boundaries, type Seen } from './guarantees.ts'
import type { ResolvedOptions } from './options.ts'
import { shared } from './system.ts'
import { tryBoundaries, type Tried } from './trial.ts'

const library = '@anthropic-ai/sandbox-runtime'

/** Runs a command that tries to cross each boundary, in a temporary directory. */
export async function probeSandboxRuntime(
  { root, owner }: ConfinedTarget,
  options: ResolvedOptions,
): Promise<Probed<Seen>> {
  const { platform } = process
  const problem = rootProblem(root)
  if (problem !== undefined)
    return unavailable(problem, "mount the directory at its own real path, as in `at: '/Users/me/project'`")
  const [program, remedy] =
    platform === 'linux'
      ? ['bwrap', howToInstall('bubblewrap')]
      : ['sandbox-exec', 'repair this macOS: `/usr/bin/sandbox-exec` is a part of it']
  if ((await findProgram(program, { versionArguments: null })) === undefined)
    return unavailable(`${program} is not installed`, remedy)
  let tried: Tried
  try {
    tried = await tryBoundaries(owner, platform, options)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    return unavailable(`\`${library}\` is not installed`, `npm install ${library}`)
  }
  if (tried.held === undefined)
    return unavailable(`it does not work here (${tried.problem})`, 'run a command as the workspace’s owner to see why')
  const isOpen = (['read', 'write'] as const).some((name) => !tried.held?.includes(name))
  if (isOpen) return unavailable('commands in it reach files outside of the workspace', 'use a container')
  const open = boundaries.filter((name) => !tried.held?.includes(name))
  const confinement = platform === 'linux' ? 'bubblewrap' : 'seatbelt'
  const details = { confinement, ...(open.length > 0 && { open: open.join(', ') }) }
  return { found: { platform, held: tried.held }, details }
}

function rootProblem(root: VirtualPath): string | undefined {
  if (root === '/') return 'a mount at `/`, which is not the path of the directory on this machine'
  if (shared.some((path) => paths.isWithin(root, path as VirtualPath)))
    return `\`${root}\` lies in a directory that all sandboxes of the library share`
  try {
    if (realpathSync.native(root) === root) return undefined
  } catch {
    // a missing path is not the directory's own
  }
  return `the workspace is at \`${root}\`, which is not the real path of a directory on this machine`
}
