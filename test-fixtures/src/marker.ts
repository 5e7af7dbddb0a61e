import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** An environment variable that marks a test's processes. At the test's end, marked processes are killed. */
export function createMarker() {
  const marker = `WS_MARK_${randomUUID()}`
  onTestFinished(() => {
    for (const pid of findMarked(marker)) process.kill(pid, 'SIGKILL')
  })
  return { env: { PATH: '/usr/bin:/bin', WS_MARK: marker }, survivors: () => findMarked(marker) }
}

function findMarked(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const alive = !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
        return alive && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Polls a condition about other processes. Fails after half a minute. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('waited for half a minute')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/**
 * Repeats work that had not begun before its timeout. Each new attempt gets four times the previous timeout.
 * @param timeout milliseconds of the first attempt. The last attempt has at least ten seconds
 */
export async function withTimeToBegin<Result>(
  timeout: number,
  run: (timeout: number) => Promise<Result>,
  hasBegun: (result: Result) => boolean | Promise<boolean>,
): Promise<Result> {
  const result = await run(timeout)
  if (timeout >= 10_000 || (await hasBegun(result))) return result
  return await withTimeToBegin(timeout * 4, run, hasBegun)
}
