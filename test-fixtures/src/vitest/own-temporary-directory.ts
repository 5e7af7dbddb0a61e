import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll } from 'vitest'

// Tests look at what is left in the temporary directory: each file has one of its own, so that files can run side by side.
const before = process.env['TMPDIR']
const directory = mkdtempSync(join(realpathSync(tmpdir()), 'ws-vitest-'))
chmodSync(directory, 0o1777)
process.env['TMPDIR'] = directory

afterAll(() => {
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
  openUp(directory)
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
})

/** A directory that a killed process left may be closed: then nobody but root can remove its entries. */
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
