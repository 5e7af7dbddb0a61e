import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { followWarm, type WarmCommand } from '../../src/warm/process.ts'
import type { WarmEnd } from '../../src/warm/supervisor-parts.ts'

it('the output of a command that has ended is read, though this process was held up meanwhile', async () => {
  await using scratch = await createScratchDirectory({ prefix: 'ws-warm-' })
  const pipe = (name: string, content: string) => {
    const path = join(scratch.path, name)
    execFileSync('/usr/bin/mkfifo', [path])
    const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    writeSync(both, content)
    closeSync(both)
    return read
  }
  const fds: Record<string, number> = { stdout: pipe('stdout', 'out'), stderr: pipe('stderr', 'err') }
  const { promise: ended, resolve: end } = Promise.withResolvers<WarmEnd>()
  let read = ''
  const take = (chunk: Uint8Array) => {
    read += Buffer.from(chunk).toString()
  }
  const command = {
    pool: { served: () => undefined },
    spare: { take: (which: string) => fds[which], close: () => undefined, child: { pid: 0 } },
    running: { ended, expectEnd: () => undefined },
    end: () => undefined,
    hides: false,
    start: { stdin: 'none', onStdout: take, onStderr: take },
  } as unknown as WarmCommand
  const { process } = followWarm(command)
  end({ status: 0 })
  for (let turns = 0; turns < 10; turns++) await Promise.resolve()
  // longer than an output may be silent after the end of its command
  for (const until = performance.now() + 400; performance.now() < until; );
  expect((await process.wait()).exitCode).toBe(0)
  expect([...read].sort().join('')).toBe('eorrtu')
})
