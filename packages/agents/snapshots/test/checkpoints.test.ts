import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { type Kind, failureOf, filesOf, ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

for (const kind of ['local', 'memory', 'r2'] satisfies Kind[]) {
  describe(`checkpoints of ${kind}`, { tags: kind === 'r2' ? ['all'] : [] }, () => {
    it('[UN2] name what was created, changed and deleted, sorted, and no times alone', async () => {
      const { workspace } = await siteOf({ kind })
      await workspace.write('/kept.txt', 'kept')
      await workspace.write('/edited.txt', 'one\ntwo\n')
      await workspace.write('/gone/file.txt', 'gone')
      await workspace.createSymlink('/link', 'kept.txt')
      const { id } = await workspace.checkpoint({ label: 'start' })
      expect(await workspace.changes()).toEqual([])

      // R2 keeps neither times nor bits that are set
      const keepsBits = kind !== 'r2'
      if (keepsBits) await workspace.utimes('/kept.txt', { modifiedAt: 1_000_000 })
      await workspace.write('/edited.txt', 'one\n2\n')
      if (keepsBits) await workspace.chmod('/edited.txt', 0o700)
      await workspace.delete('/gone', { recursive: true })
      await workspace.write('/new/file.bin', Uint8Array.of(0, 1))
      await workspace.delete('/link')
      await workspace.createSymlink('/link', 'new')
      expect(await workspace.changes({ since: id })).toEqual([
        {
          ...{ path: '/edited.txt', kind: 'changed', type: 'file', sizeBefore: 8, sizeAfter: 6 },
          what: keepsBits ? ['content', 'mode'] : ['content'],
        },
        { path: '/gone', kind: 'deleted', type: 'directory' },
        { path: '/gone/file.txt', kind: 'deleted', type: 'file', sizeBefore: 4 },
        { path: '/link', kind: 'changed', type: 'symlink', what: ['target'] },
        { path: '/new', kind: 'created', type: 'directory' },
        { path: '/new/file.bin', kind: 'created', type: 'file', sizeAfter: 2 },
      ])
      expect(await workspace.changes({ paths: ['new', '/edited.txt'] })).toHaveLength(3)
      expect(await workspace.diff({ path: '/edited.txt' })).toMatch(
        /^(?:mode of \/edited\.txt: 0\d{3} -> 0700\n)?--- a\/edited\.txt\n\+\+\+ b\/edited\.txt\n@@ -1,2 \+1,2 @@\n one\n-two\n\+2\n$/,
      )
      expect(await workspace.diff({ path: '/new' })).toBe('Not compared as text: /new/file.bin: nothing -> 2 bytes\n')
      expect(await workspace.diff({ path: '/gone' })).toContain(
        '--- a/gone/file.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n',
      )
    })

    it('[UN3] restore them, and restore what was before the restore', async () => {
      const { workspace } = await siteOf({ kind })
      await workspace.write('/a/one.txt', 'one')
      await workspace.write('/a/two.txt', 'two')
      const before = await filesOf(workspace)
      const { id } = await workspace.checkpoint()
      await workspace.move('/a', '/b')
      await workspace.write('/b/one.txt', 'other')
      await workspace.write('/c', 'c')
      const after = await filesOf(workspace)

      const preview = await workspace.restore(id, { dryRun: true })
      expect(await filesOf(workspace)).toEqual(after)
      const { restored, kept, undo } = await workspace.restore(id)
      expect({ restored, kept }).toEqual(preview)
      expect(kept).toEqual([])
      expect(await filesOf(workspace)).toEqual(before)
      await workspace.restore(undo ?? '')
      expect(await filesOf(workspace)).toEqual(after)
      expect((await workspace.checkpoints()).map(({ label }) => label)).toEqual([
        undefined,
        `before restoring ${id}`,
        `before restoring ${undo}`,
      ])
    })

    it('[UN3] restore single paths, with the directories that they need, and leave the others', async () => {
      const { workspace } = await siteOf({ kind })
      await workspace.write('/deep/er/file.txt', 'old')
      await workspace.write('/deep/er/other.txt', 'old')
      await workspace.write('/beside.txt', 'old')
      const { id } = await workspace.checkpoint()
      await workspace.delete('/deep', { recursive: true })
      await workspace.write('/beside.txt', 'new')
      await workspace.restore(id, { paths: ['/deep/er/file.txt'] })
      expect(Object.keys(await filesOf(workspace))).toEqual(
        expect.arrayContaining(['/deep', '/deep/er', '/deep/er/file.txt', '/beside.txt']),
      )
      expect(await workspace.exists('/deep/er/other.txt')).toBe(false)
      expect(await workspace.readText('/beside.txt')).toBe('new')
    })

    it('[UN5] say which files are too large, and restore leaves those alone', async () => {
      const { workspace } = await siteOf({ kind, maxFileBytes: 10 })
      await workspace.write('/large', 'x'.repeat(11))
      await workspace.write('/small', 'x'.repeat(10))
      const { id, leftOut } = await workspace.checkpoint()
      expect(leftOut).toEqual([{ path: '/large', reason: 'it has more than 10 bytes' }])
      await workspace.write('/large', 'y'.repeat(12))
      await workspace.write('/small', 'y')
      expect(await workspace.changes()).toHaveLength(2)
      const { restored, kept } = await workspace.restore(id)
      expect(restored.map(({ path }) => path)).toEqual(['/small'])
      expect(kept).toEqual([{ path: '/large', reason: expect.stringContaining('not saved') as string }])
      expect(await workspace.readText('/large')).toBe('y'.repeat(12))
    })

    it('refuse what means nothing, with one sentence and a remedy', async () => {
      const { workspace } = await siteOf({ kind })
      expect(await failureOf(workspace.changes())).toMatchObject({ code: 'ENOENT', operation: 'changes' })
      const { id } = await workspace.checkpoint()
      const other = await siteOf({ kind })
      await other.workspace.checkpoint()
      for (const since of ['c0', `${id}x`, '../x']) {
        const failure = await failureOf(workspace.changes({ since }))
        expect(failure).toMatchObject({ code: 'ENOENT', remedy: expect.stringContaining('checkpoints()') as string })
        expect((await failureOf(workspace.restore(since))).code).toBe('ENOENT')
      }
      expect(await workspace.checkpoints()).toHaveLength(1)
      expect((await failureOf(workspace.changes({ paths: ['/../x'] }))).code).toBe('EOUTSIDE')
      expect((await failureOf(workspace.checkpoint({ label: '' }))).code).toBe('EINVAL')
      expect((await failureOf(workspace.restore(id, { dry: true } as never))).message).toContain('dryRun')
      const aborted = AbortSignal.abort(new Error('enough'))
      await expect(workspace.checkpoint({ signal: aborted })).rejects.toThrow('enough')
      await workspace.close()
      expect((await failureOf(workspace.checkpoint())).code).toBe('ECLOSED')
    })
  })
}

describe('checkpoints of a disk', () => {
  it('stay for the next workspace on the directory, closed to others, and name moves', async () => {
    const first = await siteOf({ stateDirectory: `${await ownDirectory()}/kept` })
    await first.workspace.write('/src/a.txt', 'a')
    await first.workspace.write('/b.txt', 'b')
    const { id } = await first.workspace.checkpoint({ label: 'kept' })
    await first.workspace.close()
    for (const name of readdirSync(first.stateDirectory))
      expect(statSync(join(first.stateDirectory, name)).mode & 0o777, name).toBe(0o600)
    expect(statSync(first.stateDirectory).mode & 0o777).toBe(0o700)

    const { workspace } = await siteOf({ root: first.root, stateDirectory: first.stateDirectory })
    expect(await workspace.checkpoints()).toMatchObject([{ id, label: 'kept', automatic: false }])
    await workspace.move('/src', '/code')
    await workspace.move('/b.txt', '/code/c.txt')
    await workspace.chmod('/code/c.txt', 0o600)
    expect(await workspace.changes()).toEqual([
      { path: '/code', kind: 'moved', type: 'directory', from: '/src' },
      {
        ...{ path: '/code/c.txt', kind: 'moved', type: 'file', from: '/b.txt', what: ['mode'] },
        ...{ sizeBefore: 1, sizeAfter: 1 },
      },
    ])
    await workspace.restore(id)
    expect(await workspace.readText('/src/a.txt')).toBe('a')
  })

  it('[UN1] hold between two calls what the first and what other programs have changed', async () => {
    const { workspace, root } = await siteOf({ automatic: true })
    await workspace.checkpoint({ automatic: true })
    await workspace.write('/new/below/file.txt', 'new')
    writeFileSync(join(root, 'theirs.txt'), 'from outside')
    const { id } = await workspace.checkpoint({ automatic: true })
    await workspace.delete('/new', { recursive: true })
    await workspace.write('/theirs.txt', 'overwritten')
    expect((await workspace.restore(id)).kept).toEqual([])
    expect(await workspace.readText('/new/below/file.txt')).toBe('new')
    expect(await workspace.readText('/theirs.txt')).toBe('from outside')
  })

  it('[UN1] hold what a restore has brought back', async () => {
    const { workspace } = await siteOf({ automatic: true })
    await workspace.write('/file.txt', 'one')
    const { id } = await workspace.checkpoint({ automatic: true })
    await workspace.write('/file.txt', 'two')
    await workspace.restore(id)
    await workspace.write('/other.txt', 'other')
    const { id: later } = await workspace.checkpoint({ automatic: true })
    await workspace.write('/file.txt', 'three')
    await workspace.restore(later)
    expect(await workspace.readText('/file.txt')).toBe('one')
  })

  it('[UN1] hold what changed before an automatic one that failed', async () => {
    const { workspace } = await siteOf({ automatic: true, maxBytes: 200_000 })
    await workspace.write('/file.txt', 'one')
    await workspace.checkpoint({ automatic: true })
    await workspace.write('/file.txt', 'two')
    await workspace.write('/large', randomBytes(400_000))
    expect(await failureOf(workspace.checkpoint({ automatic: true }))).toMatchObject({ code: 'EDQUOT' })
    await workspace.delete('/large')
    const { id } = await workspace.checkpoint({ automatic: true })
    await workspace.write('/file.txt', 'three')
    await workspace.restore(id)
    expect(await workspace.readText('/file.txt')).toBe('two')
  })

  it('are not those of another directory', async () => {
    const first = await siteOf()
    const { id } = await first.workspace.checkpoint()
    await first.workspace.close()
    const { workspace } = await siteOf()
    expect(await workspace.checkpoints()).toEqual([])
    expect(await failureOf(workspace.restore(id))).toMatchObject({
      code: 'EINVAL',
      reason: expect.stringContaining('another') as string,
    })
  })

  it('[UN3] open directories up that keep their owner out, and close them again', async () => {
    const { workspace, root } = await siteOf()
    await workspace.write('/shut/file.txt', 'old')
    chmodSync(join(root, 'shut'), 0o555)
    const { id } = await workspace.checkpoint()
    chmodSync(join(root, 'shut'), 0o755)
    await workspace.write('/shut/file.txt', 'new')
    chmodSync(join(root, 'shut'), 0o555)
    expect((await workspace.restore(id)).kept).toEqual([])
    expect(await workspace.readText('/shut/file.txt')).toBe('old')
    expect(lstatSync(join(root, 'shut')).mode & 0o777).toBe(0o555)
  })
})
