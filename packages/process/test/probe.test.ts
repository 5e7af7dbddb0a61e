import { isWorkspaceError } from '@ws/core'
import { component, createScratchDirectory, itWith } from '@ws/test-fixtures'
import { chmod, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { findProgram, probeUnshare, startProcess, unshareArguments } from '../src/index.ts'
import { createMarker, until } from './support/marker.ts'

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

describe('unshareArguments', () => {
  itWith(component('user-namespaces'), 'a killed PID namespace leaves nobody', async () => {
    expect(await probeUnshare()).toBe(true)
    const { env, survivors } = createMarker()
    const script =
      'sleep 60 & setsid sleep 60 & (setsid sh -c "sleep 60 & trap : TERM; sleep 60; sleep 60" &) ; exec sleep 60'
    const running = startProcess({ argv: unshareArguments(['/bin/sh', '-c', script]), env })
    await until(() => survivors().length >= 5)
    running.kill('SIGKILL')
    await running.wait()
    await until(() => survivors().length === 0)
  })

  it('an empty command is EINVAL', () => {
    expect(() => unshareArguments([])).toThrow('EINVAL')
  })
})
