import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import { createMarker, until } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { supervisorScript } from '../src/mount/supervisor.ts'
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
