import { isWorkspaceError } from '@ws/core'
import { closeSync, constants, openSync, readdirSync, readlinkSync, writeSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { startProcess } from '../../src/run/start.ts'
import { listProcesses, readProcessStat } from '../../src/run/tree/stat.ts'
import { terminalCommand } from '../../src/terminal/command.ts'
import { startTerminal } from '../../src/terminal/start.ts'
import { createMarkFilter } from '../../src/terminal/marks.ts'

const env = { PATH: '/usr/bin:/bin' }
const size = { columns: 80, rows: 24 }

// Inherited descriptors are looked up at the first start: terminals come later.
beforeAll(() => startProcess({ argv: ['/bin/true'], env }).wait())

/** @param busy milliseconds in which this process reads nothing */
async function run(argv: readonly string[], busy = 0) {
  await using device = await startTerminal(size)
  const command = terminalCommand(argv, env, device.descriptor)
  // A process that leads a session cannot lead another: executors start commands below one.
  const process = startProcess({ ...command, argv: ['/bin/sh', '-c', '"$@"; exit $?', 'sh', ...command.argv] })
  device.releaseDescriptor()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy)
  const chunks: Uint8Array[] = []
  const reading = (async () => {
    for await (const chunk of device.output) chunks.push(chunk)
  })()
  const { exitCode, signal } = await process.wait()
  await device.finish()
  await reading
  return { exitCode, signal, text: Buffer.concat(chunks).toString() }
}

it('[LS10] gives a program a controlling terminal, without one of its own', async () => {
  expect(await run(['/bin/sh', '-c', 'stty size; tty -s && echo yes; echo x > /dev/tty; exit 3'])).toEqual({
    exitCode: 3,
    signal: null,
    text: '24 80\r\nyes\r\nx\r\n',
  })
  expect((await run(['/bin/sh', '-c', 'kill -9 $$'])).exitCode).toBe(137)
})

it('[LS10] everything that was written is read, also what came right before the end', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { text } = await run(['/bin/sh', '-c', 'seq 1 5000'], 200)
    expect(text.split('\r\n')).toHaveLength(5001)
  }
  expect((await run(['/bin/sh', '-c', 'seq 1 30000'])).text.split('\r\n')).toHaveLength(30_001)
})

it('no other process gets the terminal', async () => {
  await using device = await startTerminal(size)
  expect(readdirSync('/proc/self/fd').some((fd) => link(`/proc/self/fd/${fd}`) === '/dev/ptmx')).toBe(true)
  const other = await startProcess({ argv: ['/bin/ls', '-l', '/proc/self/fd'], env }).wait()
  expect(other.stdout.text).not.toContain('ptmx')
  expect(device.resize(100, 30)).toBe(true)
})

it('is gone when it is disposed of: writing and resizing say so', async () => {
  const device = await startTerminal(size)
  await device[Symbol.asyncDispose]()
  expect(await device.write(Buffer.from('x'))).toBe('closed')
  expect(device.resize(80, 24)).toBe(false)
  expect(device.signal('SIGINT')).toBe(false)
})

it('a size without meaning is EINVAL', async () => {
  for (const bad of [
    { columns: 0, rows: 24 },
    { columns: 80, rows: 65_536 },
    { columns: 1.5, rows: 1 },
  ]) {
    const error: unknown = await startTerminal(bad).catch((reason: unknown) => reason)
    expect(isWorkspaceError(error, 'EINVAL')).toBe(true)
  }
})

it('[LS13] a mark is taken out wherever chunks are cut, once, and nothing else is', () => {
  const bytes = Buffer.from('before\u001b[0m\u001b]mark\u0007after\u001b]mark\u0007')
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const filter = createMarkFilter()
    let offset = -1
    filter.expect('\u001b]mark\u0007', (at) => (offset = at))
    const parts = [filter.push(bytes.subarray(0, cut)), filter.push(bytes.subarray(cut)), filter.end()]
    expect(Buffer.concat(parts).toString()).toBe('before\u001b[0mafter\u001b]mark\u0007')
    expect(offset).toBe(10)
  }
})

function link(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

it('[HO4] nothing counts that another process writes to it after the end', async () => {
  const children = () => listProcesses().filter(({ parent }) => parent === process.pid)
  const before = new Set(children().map(({ pid }) => pid))
  await using device = await startTerminal(size)
  const [holder] = children().filter(({ pid, name }) => name === 'perl' && !before.has(pid))
  const outside = openSync(`/proc/self/fd/${device.descriptor}`, constants.O_WRONLY | constants.O_NOCTTY)
  writeSync(outside, 'early ')
  const finished = device.finish()
  // The mark is written, and this process has read nothing yet.
  while (holder !== undefined && readProcessStat(holder.pid)?.zombie === false)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  writeSync(outside, 'late')
  await finished
  closeSync(outside)
  let text = ''
  for await (const chunk of device.output) text += Buffer.from(chunk).toString()
  expect(text).toBe('early ')
})
