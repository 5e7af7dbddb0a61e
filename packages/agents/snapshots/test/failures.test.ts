import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace } from '@ws/core'
import { type MountPath, wrapAdapter } from '@ws/core/adapter'
import { createScratchDirectory, describeWith, rounds } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { randomOf } from './support/random.ts'
import { failureOf, filesOf, ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

const program = fileURLToPath(new URL('support/hold.ts', import.meta.url))

/** Starts another process on a directory, and waits for its first checkpoint. */
async function other(mode: 'hold' | 'work', root: string, stateDirectory: string) {
  const child = spawn(process.execPath, ['--conditions=@ws/source', program, mode, root, stateDirectory], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk))
  const closed = once(child, 'close')
  const end = async (): Promise<string> => {
    child.kill('SIGKILL')
    await closed
    return errors
  }
  onTestFinished(async () => void (await end()))
  await Promise.race([once(createInterface({ input: child.stdout }), 'line'), closed])
  return { end }
}

describe('the state directory', () => {
  it('[HO7] is refused where commands could reach it, under any name', async () => {
    const scratch = await createScratchDirectory({
      owner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    })
    onTestFinished(() => scratch.remove())
    const root = join(scratch.path, 'root')
    mkdirSync(root)
    symlinkSync(root, join(scratch.path, 'alias'))
    for (const stateDirectory of [join(root, 'state'), join(scratch.path, 'alias/a/b'), root]) {
      const failure = await failureOf(siteOf({ root, stateDirectory }))
      expect(failure).toMatchObject({ code: 'EINVAL', operation: 'createWorkspace', path: '/' })
      expect(failure.message).not.toContain(scratch.path)
      expect(readdirSync(root)).toEqual([])
    }
    mkdirSync(join(root, 'below'))
    symlinkSync('root/below', join(scratch.path, 'inner'))
    const failure = await failureOf(siteOf({ root, stateDirectory: join(scratch.path, 'inner/state') }))
    expect(failure).toMatchObject({ code: 'EINVAL', path: '/' })
    expect(readdirSync(join(root, 'below'))).toEqual([])
  })

  it('is refused in a read-only mount, where callers could read it', async () => {
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const scratch = await createScratchDirectory({ owner })
    onTestFinished(() => scratch.remove())
    const [root = '', skills = ''] = ['root', 'skills'].map((name) => join(scratch.path, name))
    for (const directory of [root, skills]) mkdirSync(directory)
    const mounts = [
      { at: '/', adapter: () => createLocalAdapter({ root }) },
      { at: '/skills', adapter: () => createLocalAdapter({ root: skills }), access: 'read-only' as const },
    ]
    const checkpoints = createCheckpoints({ stateDirectory: join(skills, 'state') })
    const failure = await failureOf(createWorkspace({ mounts, checkpoints }))
    expect(failure).toMatchObject({ code: 'EINVAL', path: '/skills' })
    expect(readdirSync(skills)).toEqual([])
  })

  it('is refused where others can reach it, and where it is a link', async () => {
    const directory = await ownDirectory()
    mkdirSync(join(directory, 'open'), { mode: 0o755 })
    symlinkSync(join(directory, 'open'), join(directory, 'link'))
    for (const name of ['open', 'link'])
      expect((await failureOf(siteOf({ stateDirectory: join(directory, name) }))).code).toBe('EINVAL')
  })

  it('has one process at a time, also after that one is killed, and says nothing on standard error', async () => {
    const { path: root, remove } = await createScratchDirectory()
    onTestFinished(remove)
    writeFileSync(join(root, 'file'), 'content')
    const stateDirectory = join(await ownDirectory(), 'kept')
    const process_ = await other('hold', root, stateDirectory)
    const failure = await failureOf(siteOf({ root, stateDirectory }))
    expect(failure).toMatchObject({ code: 'EBUSY', remedy: expect.stringContaining('stateDirectory') as string })
    expect(await process_.end()).toBe('')
    const { workspace } = await siteOf({ root, stateDirectory })
    expect(await workspace.checkpoints()).toMatchObject([{ label: 'first' }])
  })

  it('[UN6] that is full is ENOSPC: nothing is lost, and with space it goes on', async ({ skip }) => {
    const full = await ownDirectory()
    const mounted = spawnSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', full])
    if (mounted.status !== 0) skip('mounting is not permitted here')
    onTestFinished(() => void spawnSync('/usr/bin/umount', ['-l', full]))
    const { workspace, root } = await siteOf({ stateDirectory: full })
    await workspace.write('/small', 'old')
    const { id } = await workspace.checkpoint()
    writeFileSync(join(root, 'large'), randomBytes(4_000_000))
    expect(await failureOf(workspace.checkpoint())).toMatchObject({ code: 'ENOSPC', operation: 'checkpoint' })
    await workspace.write('/small', 'new')
    await workspace.delete('/large')
    expect((await workspace.checkpoints()).map((checkpoint) => checkpoint.id)).toEqual([id])
    await workspace.restore(id)
    expect(await workspace.readText('/small')).toBe('old')
  })

  it('[UN5] makes room by its oldest checkpoints, and refuses a tree that does not fit', async () => {
    const { workspace, stateDirectory } = await siteOf({ maxBytes: 300_000 })
    for (let turn = 0; turn < 12; turn += 1) {
      await workspace.write('/file', randomBytes(60_000))
      await workspace.checkpoint({ label: String(turn) })
    }
    const labels = (await workspace.checkpoints()).map(({ label }) => label)
    expect(labels.length).toBeLessThan(6)
    expect(labels.at(-1)).toBe('11')
    const packs = readdirSync(stateDirectory).filter((name) => name.startsWith('pack'))
    expect(packs.reduce((sum, name) => sum + readFileSync(join(stateDirectory, name)).length, 0)).toBeLessThan(300_000)
    await workspace.write('/large', randomBytes(400_000))
    const failure = await failureOf(workspace.checkpoint())
    expect(failure).toMatchObject({ code: 'EDQUOT', remedy: expect.stringContaining('maxBytes') as string })
    expect((await workspace.checkpoints()).map(({ label }) => label)).toEqual(labels)
  })

  it('[UN6] with damaged bytes changes nothing, and says so', async () => {
    const first = await siteOf({ stateDirectory: join(await ownDirectory(), 'kept') })
    await first.workspace.write('/file', 'old')
    await first.workspace.write('/other', 'old')
    const { id } = await first.workspace.checkpoint()
    await first.workspace.write('/file', 'new')
    await first.workspace.delete('/other')
    await first.workspace.write('/made', 'new')
    await first.workspace.close()
    truncateSync(join(first.stateDirectory, 'pack-1'), 10)
    const { workspace } = await siteOf({ root: first.root, stateDirectory: first.stateDirectory })
    const before = await filesOf(workspace)
    expect(await failureOf(workspace.restore(id))).toMatchObject({ code: 'EIO', operation: 'restore' })
    expect(await filesOf(workspace)).toEqual(before)
    await workspace.close()

    writeFileSync(join(first.stateDirectory, 'index.db'), 'no database at all, and long enough to be looked at')
    const failure = await failureOf(siteOf({ root: first.root, stateDirectory: first.stateDirectory }))
    expect(failure).toMatchObject({
      code: 'EIO',
      remedy: expect.stringContaining('move the state directory away') as string,
    })
  })

  it('is needed for a disk, and stores that cannot be saved are refused by name', async () => {
    const { path: root, remove } = await createScratchDirectory()
    onTestFinished(remove)
    const local = { at: '/', adapter: () => createLocalAdapter({ root }) }
    const without = createWorkspace({ mounts: [local], checkpoints: createCheckpoints() })
    expect(await failureOf(without)).toMatchObject({ code: 'EINVAL', path: '/' })
    const memory = createMemoryAdapter()
    const remote = wrapAdapter(memory, {
      name: 'remote',
      capabilities: { ...memory.capabilities, inProcess: undefined, conditionalWrite: 'none' },
    })
    const checkpoints = createCheckpoints({ stateDirectory: join(await ownDirectory(), 'kept') })
    const mounts = [local, { at: '/bucket', adapter: remote }]
    expect(await failureOf(createWorkspace({ mounts, checkpoints }))).toMatchObject({
      code: 'ENOTSUP',
      path: '/bucket',
    })
    const readOnly = { at: '/bucket', adapter: remote, access: 'read-only' as const }
    const workspace = await createWorkspace({ mounts: [local, readOnly], checkpoints })
    onTestFinished(() => workspace.close())
    await workspace.checkpoint()
  })
})

describe('kill -9', { tags: ['all', 'rounds'] }, () => {
  it('[UN6] at any moment leaves each file old or new, and the next start goes on', async () => {
    const random = randomOf(7)
    for (const round of rounds({ quick: 2, seconds: 20 })) {
      const { path: root, remove } = await createScratchDirectory()
      const stateDirectory = join(await ownDirectory(), 'kept')
      for (let file = 0; file < 30; file += 1)
        writeFileSync(join(root, `file${file}`), `old file${file} ${'x'.repeat(20_000)}\n`)
      const process_ = await other('work', root, stateDirectory)
      await delay(random() * 1_200)
      expect(await process_.end(), `round ${round}`).toBe('')
      for (const name of readdirSync(root)) {
        if (name.startsWith('.ws-tmp-')) continue
        expect(readFileSync(join(root, name), 'utf8'), `round ${round}`).toMatch(
          new RegExp(`^(?:old ${name} x{20000}|new ${name} [0-9a-f]{40000})\\n$`),
        )
      }
      const { workspace } = await siteOf({ root, stateDirectory })
      expect(
        readdirSync(root).filter((name) => !name.startsWith('file')),
        `round ${round}`,
      ).toEqual([])
      const [first] = await workspace.checkpoints()
      const { kept } = await workspace.restore(first?.id ?? '')
      expect(kept).toEqual([])
      expect(await workspace.changes({ since: first?.id })).toEqual([])
      await workspace.close()
      await remove()
    }
  }, 900_000)
})

// a process for each round
describeWith(s3Needs('r2'), 'kill -9 beside a bucket', { tags: 'deep' }, () => {
  it('[UN6] at any moment leaves each object old or new, and the next start goes on', async () => {
    const random = randomOf(11)
    const { bucket, endpoint, region, credentials } = await sharedS3Server('r2')
    for (let round = 0; round < 10; round += 1) {
      const place = { bucket, prefix: `killed-${round}`, endpoint, region, credentials }
      const stateDirectory = join(await ownDirectory(), 'kept')
      const adapter = await createS3Adapter(place)
      const names = Array.from({ length: 8 }, (_, file) => `file${file}`)
      for (const name of names)
        await adapter.write(`/${name}` as MountPath, Buffer.from(`old ${name} ${'x'.repeat(20_000)}\n`))
      const process_ = await other('work', JSON.stringify(place), stateDirectory)
      await delay(random() * 1_500)
      expect(await process_.end(), `round ${round}`).toBe('')
      const { workspace } = await siteOf({ adapter, stateDirectory })
      for (const name of names) {
        expect(await workspace.readText(`/${name}`), `round ${round}`).toMatch(
          new RegExp(`^(?:old ${name} x{20000}|new ${name} [0-9a-f]{40000})\\n$`),
        )
      }
      const [first] = await workspace.checkpoints()
      expect((await workspace.restore(first?.id ?? '')).kept).toEqual([])
      expect(await workspace.changes({ since: first?.id })).toEqual([])
      await workspace.close()
    }
  }, 300_000)
})
