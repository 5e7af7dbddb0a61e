import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import { component, createMarker, describeWith, until } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { forceFunction, supervisorScript } from '../src/mount/supervisor.ts'
import { force } from '../src/mount/unmount.ts'
import { mountAt } from '../src/state/mount-table.ts'
import { scratch } from './support.ts'

it('[RP14] the lock of a mount is held until the mount is detached, though the signal comes after rclone has ended', async () => {
  const directory = await scratch()
  const at = (name: string): string => join(directory, name)
  const { env } = createMarker()
  // detaches when it is told to
  await mkdir(at('bin'))
  const detach = `: >${at('detaching')}; until [ -e ${at('go')} ]; do sleep 0.02; done; : >${at('detached')}`
  await writeFile(at('bin/fusermount3'), `#!/bin/sh\n${detach}\n`)
  await chmod(at('bin/fusermount3'), 0o755)

  const supervised = ['ws-rclone', at('lock'), at('mount'), '', 'sleep', '1000']
  const supervisor = spawn('/bin/sh', ['-c', supervisorScript, ...supervised], {
    env: { ...env, PATH: `${at('bin')}:${env.PATH}` },
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  })
  const [rclone] = (await once(supervisor.stdout as Readable, 'data')) as [Buffer]
  // the process that has the mount ends: first its descriptors close, then the signal comes
  supervisor.stdio[3]?.destroy()
  await until(() => existsSync(at('detaching')) && !existsSync(`/proc/${rclone.toString().trim()}`))
  supervisor.kill('SIGTERM')

  const next = spawn('flock', [at('lock'), 'test', '-e', at('detached')])
  const ended = once(next, 'exit')
  const waits = new RegExp(`-> FLOCK.* ${next.pid} `)
  await until(() => next.exitCode !== null || waits.test(readFileSync('/proc/locks', 'latin1')))
  await writeFile(at('go'), '')
  expect(await ended).toEqual([0, null])
})

describeWith([component('rclone'), component('fuse')], 'mounts beside one another', { tags: 'all' }, () => {
  const connections = '/sys/fs/fuse/connections'
  /** Mounts that are made beside those in use. */
  const made = 300

  /** Mounts a directory with one file, under the keeper that adapters use. */
  async function mountIn(directory: string, name: string) {
    const at = join(directory, name)
    const point = join(at, 'mount')
    await mkdir(join(at, 'store'), { recursive: true })
    await mkdir(point)
    await writeFile(join(at, 'store', 'f'), name)
    const rclone = ['rclone', 'mount', join(at, 'store'), point, '--config', '', '--cache-dir', join(at, 'cache')]
    const supervised = ['ws-rclone', join(at, 'lock'), point, '', ...rclone]
    const keeper = spawn('/bin/sh', ['-c', supervisorScript, ...supervised], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    const ended = once(keeper, 'exit')
    const end = async () => {
      keeper.stdio[3]?.destroy()
      await ended
    }
    onTestFinished(end)
    await until(() => mountAt(point)?.fileSystem === 'fuse.rclone')
    return {
      point,
      end,
      number: mountAt(point)?.device,
      works: async () => expect(await readdir(point)).toEqual(['f']),
    }
  }

  it.for([true, false])(
    '[RP14] a mount is not broken that got the number of one that just ended, with fusectl mounted: %s',
    async (mounted, { skip }) => {
      const isThere = (): boolean => mountAt(connections) !== undefined
      if (mounted && !isThere()) {
        execFileSync('mount', ['-t', 'fusectl', 'none', connections])
        onTestFinished(() => void execFileSync('umount', [connections]))
      }
      const directory = await scratch()
      const first = await mountIn(directory, 'first')
      const halted = forceFunction.replace('opened=$number', 'opened=$number; echo known; head -n 1')
      const forcing = spawn('/bin/sh', ['-c', `${halted}force "$1"`, 'sh', first.point], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const done = once(forcing, 'exit')
      await once(forcing.stdout, 'data')
      await first.end()
      let other = await mountIn(directory, 'other')
      // other programs mount too, and give lower numbers back
      for (let more = 1; other.number !== first.number && more < 8; more += 1)
        other = await mountIn(directory, `other-${more}`)
      if (other.number !== first.number) skip('the number went to a mount of another program')
      forcing.stdin.end('\n')
      await done
      await other.works()
      await force(other.point)
      await expect(other.works()).rejects.toThrow()
    },
  )

  it('[RP14] work while others are made and ended', { tags: ['deep'], timeout: 600_000 }, async () => {
    const directory = await scratch()
    const inUse = await Promise.all(Array.from({ length: 4 }, (_, index) => mountIn(directory, `in-use-${index}`)))
    let looks = 0
    let next = 0
    const makeAndEnd = async (): Promise<void> => {
      while (next < made) {
        const other = await mountIn(directory, `made-${next++}`)
        await Promise.all([other.end(), force(other.point), force(other.point)])
        for (const { works } of inUse) await works()
        looks += inUse.length
      }
    }
    await Promise.all(Array.from({ length: 4 }, makeAndEnd))
    expect(looks).toBeGreaterThanOrEqual(made * inUse.length)
  })
})
