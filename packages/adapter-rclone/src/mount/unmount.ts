import { execFile } from 'node:child_process'

import { defaultPath } from '@ws/process'

import { mountAt } from './table.ts'

/** Milliseconds that the helper may take: on a mount that hangs it can wait for ever. */
const helperMs = 5_000

/**
 * Takes the mount away. `lazy`: at once, whoever still uses it; else only when nobody does. True when nothing is mounted
 * there any more.
 */
export async function unmount(mountPoint: string, { lazy }: { readonly lazy: boolean }): Promise<boolean> {
  const ways = [
    ['fusermount3', lazy ? '-uz' : '-u', '--', mountPoint],
    ['fusermount', lazy ? '-uz' : '-u', '--', mountPoint],
    ['umount', ...(lazy ? ['-l'] : []), '--', mountPoint],
  ] as const
  for (const [program, ...args] of ways) {
    if (mountAt(mountPoint) === undefined) return true
    await run(program, args)
  }
  return mountAt(mountPoint) === undefined
}

/** Resolves when it has ended, well or not: the mount table tells what came of it. */
async function run(program: string, args: readonly string[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const env = { PATH: defaultPath, LC_ALL: 'C' }
  execFile(program, args, { cwd: '/', env, timeout: helperMs, killSignal: 'SIGKILL' }, () => resolve())
  await promise
}
