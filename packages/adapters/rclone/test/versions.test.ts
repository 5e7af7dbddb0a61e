import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { versionFrom } from '@ws/adapter-local/internal'
import { isWorkspaceError } from '@ws/core'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { lookAtCachedFile } from '../src/cache/cached-file.ts'
import { refuseWrittenSince, sameContentNow, type VersionContext } from '../src/files/versions.ts'
import { at, bytes, failureOf, mountNeeds, open, openSite, readText, scratch, write } from './support.ts'

describeWith(mountNeeds, 'versions over a mount that changes times on its own', () => {
  it('a version from before the upload still holds afterwards, and after the next listing', async () => {
    const { adapter } = await openSite({ timeouts: { directoryCache: 100, attributeCache: 0 } })
    const before = await write(adapter, '/a', 'one')
    expect((await adapter.stat(at('/a'))).version).toBe(before)
    await adapter.flush()
    const uploaded = await adapter.stat(at('/a'))
    await adapter.refresh()
    const listed = await adapter.stat(at('/a'))
    // else there is nothing to be shown here
    expect(new Set([before, uploaded.version, listed.version]).size).toBeGreaterThan(1)
    for (const ifVersion of [before, uploaded.version, listed.version]) {
      expect((await adapter.read(at('/a'), { ifVersion })).bytes).toEqual(bytes('one'))
    }
    const { version } = await adapter.write(at('/a'), bytes('two'), { ifVersion: before })
    expect(await readText(adapter, '/a')).toBe('two')
    for (const stale of [before, uploaded.version, listed.version]) {
      expect((await failureOf(adapter.write(at('/a'), bytes('no!'), { ifVersion: stale }))).code).toBe('ECONFLICT')
    }
    await adapter.flush()
    await adapter.delete(at('/a'), { ifVersion: version })
  })

  it('a change of the same size is a change: by a command, by another client, with the old time put back', async () => {
    const { adapter, store, root } = await openSite({ timeouts: { directoryCache: 100, attributeCache: 0 } })
    const change: Record<string, () => Promise<void>> = {
      command: () => writeFile(join(root, 'a'), 'TWO'),
      client: async () => {
        await adapter.flush()
        await store.put('threads/t1/a', 'TWO')
        await adapter.refresh()
      },
      'command, then uploaded': async () => {
        await writeFile(join(root, 'a'), 'TWO')
        await adapter.flush()
        await adapter.refresh()
      },
    }
    for (const [who, make] of Object.entries(change)) {
      await write(adapter, '/a', 'one')
      await adapter.flush()
      await adapter.refresh()
      const ifVersion = await write(adapter, '/a', 'two')
      await make()
      const error = await failureOf(adapter.write(at('/a'), bytes('mine'), { ifVersion }))
      expect(error.code, who).toBe('ECONFLICT')
      expect(await readText(adapter, '/a'), who).toBe('TWO')
    }
  })

  it('holds over a new mount', async () => {
    const { adapter, options } = await openSite()
    const version = await write(adapter, '/a', 'one')
    await adapter.close()
    const again = await open(options)
    await again.write(at('/a'), bytes('two'), { ifVersion: version })
    expect(await readText(again, '/a')).toBe('two')
  })

  it('a time that somebody set is no conflict of content, and is not lost before the upload', async () => {
    const { adapter, root } = await openSite({ timeouts: { writeBack: 1_000 } })
    await write(adapter, '/a', 'one')
    await utimes(join(root, 'a'), 1_000_000, 1_000_000)
    expect((await adapter.stat(at('/a'))).modifiedAt).toBe(1_000_000_000)
  })
})

it('[PC22] a write that the kernel does not tell yet is a change', async () => {
  await using scratch = await createScratchDirectory()
  const note = join(scratch.path, 'a')
  const write = async (fraction: string) => {
    const all = { Dirty: true, Size: 5, Rs: [{ Pos: 0, Size: 5 }], Fingerprint: '' }
    await writeFile(note, JSON.stringify({ ...all, ModTime: `2026-09-21T14:13:20.${fraction}Z` }))
  }
  await write('123456789')
  const cached = lookAtCachedFile(note)
  if (cached === undefined || cached === 'changing') throw new Error('the note cannot be read')
  const version = versionFrom({ size: 5n, mtimeNs: cached.mtimeNs })
  // the kernel reports the time of the first write in both cases
  const files = { stat: async () => ({ type: 'file', size: 5, version }) }
  const context = { files, running: {}, metadata: scratch.path, below: '' } as unknown as VersionContext
  expect(await sameContentNow(context, at('/a'), version)).toBe(version)
  await write('623456789')
  expect(await sameContentNow(context, at('/a'), version)).toBeUndefined()
})

it('[RP14] a version holds no more once this machine has written the file, whatever the kernel reports, uploaded or not', async () => {
  const metadata = await scratch()
  const [first, second] = [1_700_000_000_000_000_001n, 1_700_000_000_500_000_001n]
  const uploadedMs = 1_700_000_001_000_000_000n
  const say = (time: string, dirty: boolean): Promise<void> =>
    writeFile(join(metadata, 'a'), JSON.stringify({ ModTime: time, Size: 1, Rs: null, Fingerprint: '', Dirty: dirty }))
  const refused = async (condition: string): Promise<boolean> =>
    refuseWrittenSince(metadata, 'write', [{ path: at('/a'), condition }]).then(
      () => false,
      (error: unknown) => isWorkspaceError(error, 'ECONFLICT'),
    )
  for (const dirty of [true, false]) {
    await say('2023-11-14T22:13:20.500000001Z', dirty)
    expect(await refused(versionFrom({ size: 1n, mtimeNs: first }))).toBe(true)
    expect(await refused(versionFrom({ size: 1n, mtimeNs: uploadedMs }, first))).toBe(true)
    expect(await refused(versionFrom({ size: 1n, mtimeNs: second }))).toBe(false)
    expect(await refused(versionFrom({ size: 1n, mtimeNs: uploadedMs }, second))).toBe(false)
    expect(await refused('absent')).toBe(false)
  }
  // from the store: another machine wrote it, and the store's time decides
  await say('2023-11-14T22:13:20.500Z', false)
  expect(await refused(versionFrom({ size: 1n, mtimeNs: first }))).toBe(false)
  expect(await refused(versionFrom({ size: 1n, mtimeNs: uploadedMs }))).toBe(false)
})
