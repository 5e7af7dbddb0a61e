/** @module-tag all */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

for (const client of ['impit', 'undici'])
  it(`[FS10] memory stays within 32 MiB over idle, whatever comes, with ${client}`, {
    tags: client === 'impit' ? ['deep'] : [],
  }, async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--expose-gc', '--conditions=@ws/source', join(import.meta.dirname, 'measure-memory.ts'), client],
      { timeout: 120_000 },
    )
    for (const [kind, mebibytes] of Object.entries(JSON.parse(stdout) as Record<string, number>)) {
      expect(mebibytes, kind).toBeLessThan(32)
    }
  })
