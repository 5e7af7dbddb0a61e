import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

import { component, itWith } from '@ws/test-fixtures'
import { Root, scan } from '@ws/tree/disk'
import { describe, expect, it, onTestFinished } from 'vitest'

import { ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

const mountedOver = 'something else is mounted there'

function mount(...words: string[]): () => void {
  const { status, stderr } = spawnSync('mount', words)
  if (status !== 0) throw new Error(String(stderr))
  const end = (): void => void spawnSync('umount', ['-l', words.at(-1) ?? ''])
  onTestFinished(end)
  return end
}

/** Makes directories in one another, which are removed when the test ends. */
function makeDeep(root: string, depth: number, bottom = ''): void {
  const script = 'chdir $ARGV[0]; for (1 .. $ARGV[1]) { mkdir "d"; chdir "d" } if ($ARGV[2]) { open(F, ">", $ARGV[2]) }'
  spawnSync('perl', ['-e', script, root, String(depth), bottom])
  onTestFinished(() => void spawnSync('rm', ['-rf', `${root}/d`]))
}

describe('a checkpoint of entries that cannot be looked at', () => {
  itWith(
    component('tmpfs'),
    '[HO5] [UN3] [UN5] a restore leaves alone what was mounted over then, or is now',
    async () => {
      const { workspace, root } = await siteOf({ kind: 'local' })
      await workspace.write('/then/f', 'then')
      await workspace.write('/now/f', 'now')
      const other = await ownDirectory()
      writeFileSync(`${other}/f`, 'other')
      const endThen = mount('-t', 'tmpfs', '-o', 'size=64k', 'unknown', `${root}/then`)
      const { id, leftOut } = await workspace.checkpoint()
      expect(leftOut).toEqual([{ path: '/then', reason: mountedOver }])
      endThen()
      // a part of the same file system
      const endNow = mount('--bind', other, `${root}/now`)
      await workspace.write('/new', 'new')
      expect((await workspace.changes({ since: id })).map(({ path }) => path)).toEqual(['/new'])
      const { undo, restored } = await workspace.restore(id)
      expect(restored.map(({ path }) => path)).toEqual(['/new'])
      endNow()
      expect(readFileSync(`${other}/f`, 'utf8')).toBe('other')
      expect(await workspace.readText('/then/f')).toBe('then')
      expect(await workspace.readText('/now/f')).toBe('now')
      expect(await workspace.exists('/new')).toBe(false)
      await workspace.restore(undo ?? '')
      expect(await workspace.readText('/new')).toBe('new')
      // from now on, it is known
      const next = await workspace.checkpoint()
      await workspace.write('/then/f', 'later')
      await workspace.restore(next.id)
      expect(await workspace.readText('/then/f')).toBe('then')
    },
  )

  it('[HO5] [UN1] [UN3] names with U+FFFD are saved; those that are not UTF-8 are named', async () => {
    const { workspace, root } = await siteOf({ kind: 'local' })
    const ufffd = '\uFFFD'
    await workspace.write(`/d${ufffd}/f${ufffd}`, 'old')
    await workspace.createSymlink('/l', ufffd)
    writeFileSync(Buffer.concat([Buffer.from(`${root}/f`), Buffer.of(0xff)]), 'unsaved')
    const { id, leftOut } = await workspace.checkpoint()
    expect(leftOut).toEqual([{ path: `/f${ufffd}`, reason: 'its name is not valid UTF-8' }])
    await workspace.delete(`/d${ufffd}`, { recursive: true })
    await workspace.delete('/l')
    await workspace.restore(id)
    expect(await workspace.readText(`/d${ufffd}/f${ufffd}`)).toBe('old')
    expect(await workspace.readSymlink('/l')).toBe(ufffd)
    expect(readdirSync(root, 'buffer').some((name) => name.includes(0xff))).toBe(true)
  })

  it('[HO6] [UN5] a lease of another program leaves one file out, and nothing waits', async () => {
    const { workspace, root } = await siteOf({ kind: 'local' })
    await workspace.write('/f', 'old')
    writeFileSync(`${root}/leased`, 'x')
    const script =
      '$SIG{IO} = "IGNORE"; open(F, "+<", $ARGV[0]) or die; fcntl(F, 1024, 1) or die; $| = 1; print 1; sleep 600'
    const holder = spawn('perl', ['-e', script, `${root}/leased`], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    const { id, leftOut } = await workspace.checkpoint()
    expect(leftOut).toEqual([{ path: '/leased', reason: 'it may not be read' }])
    await workspace.write('/f', 'new')
    expect((await workspace.changes({ since: id })).map(({ path }) => path)).toEqual(['/f'])
    await workspace.restore(id)
    expect(await workspace.readText('/f')).toBe('old')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    expect((await workspace.checkpoint()).leftOut).toEqual([])
  })

  it('[HO6] [UN5] a tree that is deeper than the longest path is left out by name from there', async () => {
    const { workspace, root } = await siteOf({ kind: 'local' })
    await workspace.write('/f', 'old')
    makeDeep(root, 2_500)
    const { id, leftOut } = await workspace.checkpoint()
    expect(leftOut).toEqual([{ path: expect.stringMatching(/^(?:\/d)+$/u) as string, reason: 'its path is too long' }])
    await workspace.write('/f', 'new')
    expect((await workspace.restore(id)).restored.map(({ path }) => path)).toEqual(['/f'])
    expect(await workspace.readText('/f')).toBe('old')
  })

  it('[HO6] [UN1] a walk of 1,500 levels takes few descriptors, and goes on with what lies beside', async () => {
    const path = await ownDirectory()
    makeDeep(path, 1_500, 'bottom')
    mkdirSync(`${path}/z`)
    writeFileSync(`${path}/d/beside`, 'x')
    const root = new Root(path)
    const before = readdirSync('/proc/self/fd').length
    const counts: number[] = []
    const { changed, gone, leftOut, unknown } = scan({
      ...{ root, known: new Map(), maxFileBytes: 10, reserved: [] },
      take: (_place, status) => {
        counts.push(readdirSync('/proc/self/fd').length - before)
        return { content: 'x', status, torn: false }
      },
    })
    root.close()
    expect([changed.size, gone, leftOut, unknown]).toEqual([1_504, [], [], []])
    expect(changed.has(`${'/d'.repeat(1_500)}/bottom`)).toBe(true)
    expect(Math.max(...counts)).toBeLessThan(250)
    expect(counts).toHaveLength(2)
  })
})
