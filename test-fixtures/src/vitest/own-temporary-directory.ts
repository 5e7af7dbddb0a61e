import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll } from 'vitest'

// Tests look at what is left in the temporary directory: each file has one of its own, so that files can run side by side.
// Files that share a worker get theirs one after the other. A file without a test to run does not learn of its end.
const worker = globalThis as { [key: symbol]: { readonly parent: string; current?: string } | undefined }
const key = Symbol.for('@ws/test-fixtures temporary directory')
const place = (worker[key] ??= { parent: realpathSync(tmpdir()) })
remove()
place.current = mkdtempSync(join(place.parent, 'ws-vitest-'))
chmodSync(place.current, 0o1777)
// With this flag, ext4 lays directories far apart. Close together, each new file is searched for past all those that were
// just deleted, which took 6 % of the processor time. Another file system refuses the flag, and works without.
spawnSync('chattr', ['+T', place.current])
process.env['TMPDIR'] = place.current
const before = { ...process.env }
/** Variables that `impit` and the Claude Agent SDK set for themselves. */
const setByLibraries = /^(?:IMPIT_|NoDefaultCurrentDirectoryInExePath$)/

afterAll(() => {
  const names = Object.keys({ ...before, ...process.env }).filter((name) => !setByLibraries.test(name))
  const changed = names.filter((name) => process.env[name] !== before[name])
  process.env['TMPDIR'] = place.parent
  remove()
  // a worker goes on with other files
  if (changed.length > 0) throw new Error(`a test left variables of the process changed: ${changed.join(', ')}`)
})

function remove(): void {
  if (place.current === undefined) return
  openUp(place.current)
  rmSync(place.current, { recursive: true, force: true, maxRetries: 3 })
  delete place.current
}

/** A directory that a killed process left may be closed: then only root can remove its entries. */
function openUp(path: string): void {
  try {
    chmodSync(path, 0o700)
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) openUp(join(path, entry.name))
    }
  } catch (error) {
    // a process that is about to end removes what it made
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
