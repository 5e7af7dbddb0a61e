import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
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
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
})
