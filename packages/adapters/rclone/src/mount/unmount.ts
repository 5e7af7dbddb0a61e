import { spawn } from 'node:child_process'

import { forceFunction } from './supervisor.ts'
import { mountAt } from '../state/mount-table.ts'
import { systemPath } from '../program/find.ts'

/** Milliseconds for the program that unmounts. On a hanging mount, it can wait in the kernel forever. */
const helperMs = 5_000

/** Unmounts. `lazy`: at once, and waiting users fail; otherwise only if no user remains. Returns true if the mount has ended. */
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

/** Makes every thread that waits for this mount fail. The mount serves no request from then on, but remains mounted. */
export async function force(mountPoint: string): Promise<void> {
  if (mountAt(mountPoint) !== undefined) await run('/bin/sh', ['-c', `${forceFunction}force "$1"`, 'sh', mountPoint])
}

/** Resolves when the helper has ended, failed or was killed. The mount table shows the result. */
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
