import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { component, itWith } from '@ws/test-fixtures'
import { describe, expect } from 'vitest'

const room = fileURLToPath(new URL('../../src/run/room.ts', import.meta.url))
/** Asks for processes while this user may start so many more, and prints each answer. */
const script = `const { execFileSync } = await import('node:child_process')
const { readdirSync } = await import('node:fs')
const { requireProcesses } = await import(${JSON.stringify(room)})
const answers = {}
for (const left of [40, 8, 3, 1, 0]) {
  const limit = readdirSync('/proc/self/task').length + left
  execFileSync('prlimit', ['--pid', String(process.pid), '--nproc=' + limit])
  try { requireProcesses(); answers[left] = 'room' } catch ({ code }) { answers[left] = code }
}
console.log(JSON.stringify(answers))`

// For a user without other processes, which only root can become. Limits of root are not held.
describe.runIf(process.getuid?.() === 0)('room for a terminal', () => {
  itWith(component('shared-clone'), '[HO2] is none where others could take the last processes meanwhile', async () => {
    const uid = String(2_000_000 + process.pid)
    const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
    const node = [process.execPath, '--input-type=module', '-e', script]
    const { stdout } = await promisify(execFile)('setpriv', [...user, ...node])
    expect(JSON.parse(stdout)).toEqual({ 40: 'room', 8: 'EAGAIN', 3: 'EAGAIN', 1: 'EAGAIN', 0: 'EAGAIN' })
  })
})
