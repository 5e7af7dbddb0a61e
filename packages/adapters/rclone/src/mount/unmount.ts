import { spawn } from 'node:child_process'

import { forceFunction } from './supervisor.ts'
import { mountAt } from '../state/mount-table.ts'
import { systemPath } from '../program/find.ts'

/** Milliseconds that the helper may take. On a mount that hangs it can wait for ever, in the kernel, where nothing ends it. */
const helperMs = 5_000

/** Takes the mount away. `lazy`: at once, waking its users with an error; else only without users. True: it is gone. */
export async function unmount(mountPoint: string, { lazy }: { readonly lazy: boolean }): Promise<boolean> {
  if (lazy) await force(mountPoint)
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

/** Wakes every thread that waits for the mount here, with an error. It serves nothing any more, and stays mounted. */
export async function force(mountPoint: string): Promise<void> {
  if (mountAt(mountPoint) !== undefined) await run('/bin/sh', ['-c', `${forceFunction}force "$1"`, 'sh', mountPoint])
}

/** Resolves when the helper has ended, failed or was killed: the mount table shows the result. */
async function run(program: string, args: readonly string[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const env = { PATH: systemPath, LC_ALL: 'C' }
  const child = spawn(program, args, { cwd: '/', env, stdio: 'ignore' })
  child.once('exit', () => resolve())
  child.once('error', () => resolve())
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    child.unref()
    resolve()
  }, helperMs)
  await promise
  clearTimeout(timer)
}
