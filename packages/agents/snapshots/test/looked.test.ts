import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { wrapAdapter, type StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { type SiteOptions, failureOf, filesOf, ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

/** A mount on this machine that keeps less than a disk, as one of rclone. */
async function lesserSite(options: SiteOptions = {}) {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const disk = await createLocalAdapter({ root: scratch.path })
  const adapter: StorageAdapter = wrapAdapter(disk, {
    name: 'lesser',
    capabilities: { ...disk.capabilities, modes: false, chmod: false, utimes: false },
  })
  return { ...(await siteOf({ adapter, ...options })), place: (name: string) => join(scratch.path, name) }
}

describe('a mount on this machine that keeps less than a disk', () => {
  it('[UN1] [UN2] [UN3] shows and takes back what calls and programs have changed', async () => {
    const { workspace, place } = await lesserSite()
    await workspace.write('/by-call.txt', 'old')
    writeFileSync(place('by-program.txt'), 'old')
    writeFileSync(place('gone.txt'), 'gone')
    writeFileSync(place('same.txt'), 'same')
    const { id } = await workspace.checkpoint()
    expect(await workspace.changes()).toEqual([])
    const before = Object.keys(await filesOf(workspace))
    await workspace.write('/by-call.txt', 'new')
    writeFileSync(place('by-program.txt'), 'new')
    rmSync(place('gone.txt'))
    writeFileSync(place('made.txt'), 'made')
    // another checkpoint in between has its own states
    const { id: later } = await workspace.checkpoint()
    writeFileSync(place('by-program.txt'), 'newer')
    expect((await workspace.changes({ since: id })).map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'changed /by-call.txt',
      'changed /by-program.txt',
      'deleted /gone.txt',
      'created /made.txt',
    ])
    expect((await workspace.restore(later)).restored.map(({ path }) => path)).toEqual(['/by-program.txt'])
    expect(await workspace.readText('/by-program.txt')).toBe('new')
    expect((await workspace.restore(id)).kept).toEqual([])
    expect(Object.keys(await filesOf(workspace))).toEqual(before)
    for (const name of ['by-call', 'by-program']) expect(await workspace.readText(`/${name}.txt`)).toBe('old')
    expect(await workspace.readText('/gone.txt')).toBe('gone')
  })

  it('[UN5] names files that are too large, and restores nothing of them', async () => {
    const { workspace, place } = await lesserSite({ maxFileBytes: 100 })
    writeFileSync(place('large'), 'x'.repeat(200))
    const { id, leftOut } = await workspace.checkpoint()
    expect(leftOut).toEqual([{ path: '/large', reason: 'it has more than 100 bytes' }])
    writeFileSync(place('large'), 'y'.repeat(201))
    expect(await workspace.changes({ since: id })).toMatchObject([{ path: '/large', kind: 'changed' }])
    expect((await workspace.restore(id)).kept).toEqual([{ path: '/large', reason: 'its bytes were not saved then' }])
  })

  it('[UN5] refuses a checkpoint above the cap, in words of a checkpoint', async () => {
    const { workspace, place } = await lesserSite({ maxBytes: 10_000 })
    writeFileSync(place('random'), crypto.getRandomValues(new Uint8Array(40_000)))
    const { code, message } = await failureOf(workspace.checkpoint())
    expect(code).toBe('EDQUOT')
    expect(message).toContain('the checkpoint would need more than `maxBytes`')
    rmSync(place('random'))
    await workspace.checkpoint()
  })

  it('[UN1] has automatic checkpoints, and none where nothing has changed', async () => {
    const { workspace, place } = await lesserSite({ automatic: true, stateDirectory: `${await ownDirectory()}/kept` })
    writeFileSync(place('file'), 'one')
    const { id } = await workspace.checkpoint({ automatic: true })
    expect((await workspace.checkpoint({ automatic: true })).id).toBe(id)
    writeFileSync(place('file'), 'two')
    const { id: later } = await workspace.checkpoint({ automatic: true })
    expect(later).not.toBe(id)
    await workspace.restore(id)
    expect(await workspace.readText('/file')).toBe('one')
  })
})
