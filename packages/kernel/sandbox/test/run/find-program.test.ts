import { isWorkspaceError } from '@ws/core'
import { createScratchDirectory } from '@ws/test-fixtures'
import { chmod, link, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { findProgram } from '../../src/run/find-program.ts'

describe('findProgram', () => {
  it('[LS1] finds by system directories, not by PATH', async () => {
    await using scratch = await createScratchDirectory()
    await writeFile(`${scratch.path}/fake`, '#!/bin/sh\necho "fake 1.2"\n')
    await chmod(`${scratch.path}/fake`, 0o755)
    const before = process.env.PATH
    process.env.PATH = `${scratch.path}:${before}`
    try {
      expect(await findProgram('fake')).toBeUndefined()
    } finally {
      process.env.PATH = before
    }
    expect(await findProgram('fake', { path: ['/nonexistent', scratch.path] })).toEqual({
      path: `${scratch.path}/fake`,
      version: 'fake 1.2',
    })
    expect(await findProgram('fake', { path: [scratch.path], versionArguments: null })).toEqual({
      path: `${scratch.path}/fake`,
    })
  })

  it('[LS8] refuses this very program under another name: by a link, and by a hard link', async () => {
    await using scratch = await createScratchDirectory()
    const refused = expect.toSatisfy((error: unknown) => isWorkspaceError(error, 'EINVAL'))
    await symlink(process.execPath, `${scratch.path}/by-link`)
    await expect(findProgram('by-link', { path: [scratch.path] })).rejects.toEqual(refused)
    await writeFile(`${scratch.path}/own`, '#!/bin/sh\n', { mode: 0o755 })
    await link(`${scratch.path}/own`, `${scratch.path}/hard`)
    const [, before] = process.argv
    process.argv[1] = `${scratch.path}/own`
    try {
      await expect(findProgram('hard', { path: [scratch.path] })).rejects.toEqual(refused)
    } finally {
      process.argv[1] = before ?? ''
    }
    expect(await findProgram('hard', { path: [scratch.path] })).toMatchObject({ path: `${scratch.path}/hard` })
  })

  it('one that hangs or fails has no version', async () => {
    await using scratch = await createScratchDirectory()
    await writeFile(`${scratch.path}/slow`, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
    expect(await findProgram('slow', { path: [scratch.path], timeout: 100 })).toEqual({ path: `${scratch.path}/slow` })
  })

  it('refuses names with a slash and relative directories', async () => {
    const invalid = expect.toSatisfy((error: unknown) => isWorkspaceError(error, 'EINVAL'))
    await expect(findProgram('../sh')).rejects.toEqual(invalid)
    await expect(findProgram('')).rejects.toEqual(invalid)
    await expect(findProgram('sh', { path: ['bin'] })).rejects.toEqual(invalid)
  })
})
