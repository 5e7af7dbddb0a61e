import { readlinkSync, statSync } from 'node:fs'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isWorkspaceError, type VirtualPath } from '@ws/core'
import type { HostPath } from '@ws/core/executor'
import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { openBindSource } from '../../src/view/bind-source.ts'

describe('openBindSource', () => {
  let scratch: ScratchDirectory
  const at = '/workspace/part' as VirtualPath
  const host = (name: string) => join(scratch.path, name) as HostPath

  beforeEach(async () => {
    scratch = await createScratchDirectory()
    await mkdir(host('real/inner'), { recursive: true })
    await writeFile(host('real/file'), 'x')
  })
  afterEach(() => scratch.remove())

  async function refusal(path: string, type: 'directory' | 'file') {
    return openBindSource({ path: host(path), type, at }).then(
      () => undefined,
      (error: unknown) => error,
    )
  }

  it('holds a directory and a file by descriptor, through a later rename', async () => {
    const directory = await openBindSource({ path: host('real/inner'), type: 'directory', at })
    const file = await openBindSource({ path: host('real/file'), type: 'file', at })
    const { dev, ino } = statSync(host('real/inner'))
    expect(directory.identity).toBe(`${dev}:${ino}`)
    await rename(host('real/file'), host('real/moved'))
    expect(readlinkSync(`/proc/self/fd/${file.fd}`)).toBe(host('real/moved'))
    directory.close()
    file.close()
  })

  it('refuses links at the end and on the way, missing entries and other types, without naming the host path', async () => {
    await symlink('real', host('link'))
    await symlink('file', host('real/link'))
    const refused = await Promise.all([
      refusal('link', 'directory'),
      refusal('link/inner', 'directory'),
      refusal('real/link', 'file'),
      refusal('missing', 'directory'),
      refusal('real/file', 'directory'),
      refusal('real/inner', 'file'),
    ])
    for (const error of refused) {
      expect(isWorkspaceError(error, 'EBUSY')).toBe(true)
      expect(String(error)).toContain(at)
      expect(JSON.stringify(error) + String(error)).not.toContain(scratch.path)
    }
  })
})
