import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll } from 'vitest'

// Tests check leftovers in the temporary directory, so each file has its own directory. Files of one worker run in order.
// For a file whose tests are all skipped, no hook runs at the end.
const worker = globalThis as { [key: symbol]: { readonly parent: string; current?: string } | undefined }
const key = Symbol.for('@ws/test-fixtures temporary directory')
const place = (worker[key] ??= { parent: realpathSync(tmpdir()) })
remove()
place.current = mkdtempSync(join(place.parent, 'ws-vitest-'))
chmodSync(place.current, 0o1777)
// The flag makes ext4 spread directories. Without it, searching past deleted files took 6 % of the processor time.
// Other file systems refuse the flag, which is harmless.
spawnSync('chattr', ['+T', place.current])
process.env['TMPDIR'] = place.current
const before = { ...process.env }
/** Variables set by `impit` and the Claude Agent SDK. */
const setByLibraries = /^(?:IMPIT_|NoDefaultCurrentDirectoryInExePath$)/

afterAll(() => {
  const names = Object.keys({ ...before, ...process.env }).filter((name) => !setByLibraries.test(name))
  const changed = names.filter((name) => process.env[name] !== before[name])
  process.env['TMPDIR'] = place.parent
  remove()
  // a worker continues with other files
  if (changed.length > 0) throw new Error(`a test left variables of the process changed: ${changed.join(', ')}`)
})

function remove(): void {
  if (place.current === undefined) return
  unmountBelow(place.current)
  openUp(place.current)
  rmSync(place.current, { recursive: true, force: true, maxRetries: 3 })
  delete place.current
}

/** Detaches mounts that a failed test left. A mount's server can wait for this thread, while this thread would wait for the mount. */
function unmountBelow(path: string): void {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const points = lines.map((line) => (line.split(' ')[4] ?? '').replaceAll('\\040', ' '))
  for (const point of points.filter((one) => one.startsWith(`${path}/`)).reverse())
    spawnSync('umount', ['-l', '--', point], { timeout: 5_000, killSignal: 'SIGKILL' })
}

/** Opens a directory left by a killed process. Without that, only root could remove its entries. */
function openUp(path: string): void {
  try {
    chmodSync(path, 0o700)
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) openUp(join(path, entry.name))
    }
  } catch (error) {
    // a process that is ending removes its own entries
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
