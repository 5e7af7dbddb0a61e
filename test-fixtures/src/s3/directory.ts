import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory (mode 0700) that is removed with this process, however it ends. */
export interface TiedDirectory extends AsyncDisposable {
  readonly path: string
  remove(): Promise<void>
}

// Waits for `remove` or the death of this process. Retries, since a killed process may still write for a moment.
const janitor = 'cat; for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" && exit 0; sleep 0.1; done; exit 1'

export async function createTiedDirectory(prefix: string): Promise<TiedDirectory> {
  const path = await mkdtemp(join(await realpath(tmpdir()), prefix))
  const child = spawn('/bin/sh', ['-c', janitor, 'sh', path], {
    cwd: '/',
    // its own group: an interrupt at the terminal must not stop the cleanup
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(child, 'exit')
  child.unref()
  const remove = async () => {
    child.ref()
    child.stdin.end()
    if (child.exitCode === null && child.signalCode === null) await ended
    if (child.exitCode !== 0) throw new Error(`${path} could not be removed`)
  }
  return { path, remove, [Symbol.asyncDispose]: remove }
}
