import { chmod, link, lstat, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, itWith } from '@ws/test-fixtures'
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

import { at, failureOf, openSite } from './support.ts'

const past = 1_000_000_000_123

for (const io of ['auto', 'async'] as const) {
  describe(`chmod and utimes, io: ${io}`, () => {
    it('show on the disk, and keep the time of the last access', async () => {
      const { adapter, root } = await openSite({ io })
      await writeFile(join(root, 'file'), 'x')
      const before = await stat(join(root, 'file'))
      await adapter.chmod(at('/file'), 0o751)
      await adapter.utimes(at('/file'), { modifiedAt: past })
      const { mode, mtimeMs, atimeMs } = await stat(join(root, 'file'))
      expect({ mode: mode & 0o7777, mtimeMs: Math.floor(mtimeMs) }).toEqual({ mode: 0o751, mtimeMs: past })
      expect(Math.abs(atimeMs - before.atimeMs)).toBeLessThan(1)
    })

    it('work on a file that its mode gives nobody', async () => {
      const { adapter, root } = await openSite({ io })
      await writeFile(join(root, 'file'), 'x', { mode: 0o000 })
      await adapter.utimes(at('/file'), { modifiedAt: past })
      await adapter.chmod(at('/file'), 0o600)
      expect(await adapter.stat(at('/file'))).toMatchObject({ mode: 0o600, modifiedAt: past })
    })

    it('take setuid and setgid off a file, and leave setgid and sticky on a directory', async () => {
      const { adapter, root } = await openSite({ io })
      await writeFile(join(root, 'file'), 'x')
      await mkdir(join(root, 'dir'))
      await chmod(join(root, 'file'), 0o6755)
      await chmod(join(root, 'dir'), 0o3755)
      await adapter.chmod(at('/file'), 0o755)
      await adapter.chmod(at('/dir'), 0o700)
      expect((await stat(join(root, 'file'))).mode & 0o7777).toBe(0o755)
      expect((await stat(join(root, 'dir'))).mode & 0o7777).toBe(0o3700)
    })

    it('[FS7] never change a file under another name, which may lie outside', async () => {
      const { adapter, root, outside } = await openSite({ io })
      await writeFile(join(outside, 'secret'), 'SECRET', { mode: 0o600 })
      await link(join(outside, 'secret'), join(root, 'name'))
      const before = await lstat(join(outside, 'secret'))
      expect(await failureOf(adapter.chmod(at('/name'), 0o666))).toMatchObject({ code: 'EBUSY', path: '/name' })
      expect(await failureOf(adapter.utimes(at('/name'), { modifiedAt: 1 }))).toMatchObject({ code: 'EBUSY' })
      const { mode, mtimeMs } = await lstat(join(outside, 'secret'))
      expect({ mode, mtimeMs }).toEqual({ mode: before.mode, mtimeMs: before.mtimeMs })
    })

    it('stop at a link that leads outside', async () => {
      const { adapter, root, outside } = await openSite({ io })
      await writeFile(join(outside, 'secret'), 'SECRET', { mode: 0o600 })
      await symlink(join(outside, 'secret'), join(root, 'link'))
      for (const call of [adapter.chmod(at('/link'), 0o666), adapter.utimes(at('/link'), { modifiedAt: 1 })]) {
        expect(await failureOf(call)).toMatchObject({ name: 'LinkSignal', at: '/link' })
      }
      expect((await stat(join(outside, 'secret'))).mode & 0o777).toBe(0o600)
    })

    itWith(component('python3'), 'refuse what is neither a file nor a directory', async () => {
      const { adapter, root } = await openSite({ io })
      execFileSync('/usr/bin/python3', ['-c', 'import os, sys; os.mkfifo(sys.argv[1])', join(root, 'pipe')])
      expect(await failureOf(adapter.chmod(at('/pipe'), 0o600))).toMatchObject({ code: 'EINVAL' })
      expect(await failureOf(adapter.utimes(at('/pipe'), { modifiedAt: 1 }))).toMatchObject({ code: 'EINVAL' })
    })

    it('give every change a version of its own, also several within a tick of the clock', async () => {
      const { adapter, root } = await openSite({ io })
      await writeFile(join(root, 'file'), 'x')
      const versions = [(await adapter.stat(at('/file'))).version]
      for (let index = 0; index < 8; index += 1) {
        if (index % 2 === 0) await adapter.chmod(at('/file'), 0o600)
        else await adapter.utimes(at('/file'), { modifiedAt: past })
        versions.push((await adapter.stat(at('/file'))).version)
      }
      expect(new Set(versions).size).toBe(versions.length)
    })
  })
}
