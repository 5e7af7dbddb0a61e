import { spawnSync } from 'node:child_process'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createScratchDirectory, deep, entriesBelow, meanwhile } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { shareEngine, siteOf } from './support/site.ts'

shareEngine()

describe('a second writer', () => {
  it('[UN3] loses nothing to a restore: a path that changes meanwhile is left alone and named', {
    tags: 'rounds',
  }, async () => {
    const { workspace, root } = await siteOf()
    const files = Array.from({ length: 40 }, (_, index) => `/file${index}`)
    for (const file of files) await workspace.write(file, 'old')
    const { id } = await workspace.checkpoint()
    for (const file of files) await workspace.write(file, 'new')
    // counts up in one file, in place, and in another one by exchange; each makes a new file at each turn
    const writer = await meanwhile(`
      for (let count = 1; ; count += 1) {
        fs.writeFileSync(${JSON.stringify(join(root, 'file0'))}, 'other ' + count)
        fs.writeFileSync(${JSON.stringify(join(root, '.next'))}, 'other ' + count)
        fs.renameSync(${JSON.stringify(join(root, '.next'))}, ${JSON.stringify(join(root, 'file1'))})
        fs.mkdirSync(${JSON.stringify(join(root, 'made'))}, { recursive: true })
        try {
          if (count < 2000) fs.writeFileSync(${JSON.stringify(join(root, 'made'))} + '/' + count, 'other')
        } catch (error) {
          if (error.code !== 'ENOENT') throw error // the restore has just removed the directory
        }
      }`)
    const conflicts = new Set<string>()
    for (let round = 0; round < (deep ? 50 : 2); round += 1) {
      const { kept } = await workspace.restore(id)
      for (const { path } of kept) conflicts.add(path)
    }
    await writer.stop()
    expect([...conflicts].some((path) => path === '/file0' || path === '/file1' || path.startsWith('/made'))).toBe(true)
    for (const file of files.slice(2)) expect(await workspace.readText(file)).toBe('old')
    expect(readdirSync(root).filter((name) => name.startsWith('.ws-tmp-'))).toEqual([])
  })

  it('[UN3] at the same workspace waits for the restore, and its writes stay', async () => {
    const { workspace } = await siteOf()
    for (let file = 0; file < 50; file += 1) await workspace.write(`/file${file}`, 'old')
    const { id } = await workspace.checkpoint()
    for (let file = 0; file < 50; file += 1) await workspace.write(`/file${file}`, 'new')
    const restoring = workspace.restore(id)
    const writes = Array.from({ length: 50 }, (_, file) => workspace.write(`/late${file}`, 'late'))
    const { kept, restored, undo } = await restoring
    await Promise.all(writes)
    // one that was there before the restore began is taken back with the others, and comes again with them
    const taken = new Set(restored.map(({ path }) => String(path)))
    for (let file = 0; file < 50; file += 1) {
      expect(await workspace.exists(`/late${file}`)).toBe(!taken.has(`/late${file}`))
      expect(await workspace.readText(`/file${file}`)).toBe(
        kept.some(({ path }) => path === `/file${file}`) ? 'new' : 'old',
      )
    }
    await workspace.restore(undo ?? '', { paths: [...taken] })
    for (let file = 0; file < 50; file += 1) expect(await workspace.readText(`/late${file}`)).toBe('late')
  })

  it('[UN1] in place, at the same size and within one tick of the clock, is seen', async () => {
    const { workspace, root } = await siteOf()
    for (let round = 0; round < 20; round += 1) {
      writeFileSync(join(root, 'file'), `${round}a`)
      const { id } = await workspace.checkpoint()
      writeFileSync(join(root, 'file'), `${round}b`)
      expect(await workspace.changes({ since: id }), `round ${round}`).toHaveLength(1)
    }
  })
})

describe('a disk that keeps whole seconds', () => {
  it('[UN1] shows a change in place within the second of the one before', async ({ skip }) => {
    const disk = await createScratchDirectory()
    onTestFinished(() => disk.remove())
    const image = join(disk.path, 'image')
    const root = join(disk.path, 'root')
    writeFileSync(image, '')
    truncateSync(image, 8_000_000)
    mkdirSync(root)
    const steps = [
      ['/usr/sbin/mkfs.ext4', '-q', '-F', '-I', '128', image],
      ['/usr/bin/mount', '-o', 'loop', image, root],
    ] as const
    if (steps.some(([program, ...args]) => spawnSync(program, args).status !== 0)) skip('no disk can be mounted here')
    onTestFinished(() => void spawnSync('/usr/bin/umount', ['-l', root]))
    const { workspace } = await siteOf({ root })
    for (let round = 0; round < 3; round += 1) {
      // early in a second, so that the change comes within it, and late enough for the clock of a usual disk
      await delay(1_050 - (Date.now() % 1_000))
      writeFileSync(join(root, 'file'), `${round}a`)
      await delay(250)
      const { id } = await workspace.checkpoint()
      writeFileSync(join(root, 'file'), `${round}b`)
      expect(await workspace.changes({ since: id }), `round ${round}`).toHaveLength(1)
    }
  })
})

describe('links that a command swaps in', () => {
  it('[HO1] [UN4] lead neither a checkpoint nor a restore out of the workspace', {
    tags: 'rounds',
    timeout: 120_000,
  }, async () => {
    const outside = await createScratchDirectory()
    onTestFinished(() => outside.remove())
    mkdirSync(join(outside.path, 'sub'))
    writeFileSync(join(outside.path, 'file'), 'outside')
    writeFileSync(join(outside.path, 'sub/file'), 'outside')
    const { workspace, root } = await siteOf()
    for (const name of ['dir/sub/file', 'dir/file', 'dir/gone/file']) await workspace.write(`/${name}`, 'inside old')
    const { id } = await workspace.checkpoint()
    const before = entriesBelow(outside.path)
    const swap = await meanwhile(`
      const [dir, away, target] = ${JSON.stringify([join(root, 'dir'), join(root, 'away'), outside.path])}
      for (;;) try { fs.renameSync(dir, away); fs.symlinkSync(target, dir); fs.unlinkSync(dir); fs.renameSync(away, dir) } catch {}`)
    for (let round = 0; round < (deep ? 150 : 5); round += 1) {
      await workspace.write('/dir/file', `inside new ${round}`).catch(() => undefined)
      await workspace.delete('/dir/gone', { recursive: true }).catch(() => undefined)
      await workspace.restore(id).catch(() => undefined)
      expect(await workspace.diff({ since: id }).catch(() => '')).not.toContain('outside')
    }
    await swap.stop()
    expect(entriesBelow(outside.path)).toEqual(before)
  })

  it('[UN4] are restored as links, and a hard link to a file of outside is never written through', async () => {
    const outside = await createScratchDirectory()
    onTestFinished(() => outside.remove())
    writeFileSync(join(outside.path, 'file'), 'outside')
    const { workspace, root } = await siteOf()
    await workspace.write('/file', 'inside')
    await workspace.write('/dir/file', 'inside')
    const { id } = await workspace.checkpoint()
    rmSync(join(root, 'file'))
    linkSync(join(outside.path, 'file'), join(root, 'file'))
    renameSync(join(root, 'dir'), join(root, 'kept'))
    symlinkSync(outside.path, join(root, 'dir'))
    const { kept } = await workspace.restore(id)
    expect(kept).toEqual([])
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('inside')
    expect(readFileSync(join(outside.path, 'file'), 'utf8')).toBe('outside')
    expect(lstatSync(join(root, 'dir')).isDirectory()).toBe(true)
    expect(readdirSync(outside.path)).toEqual(['file'])
  })
})
