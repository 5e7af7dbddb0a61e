import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Readable } from 'node:stream'

import { readProcessStat } from '@ws/process'
import { component, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { useListener, type SandboxSocket } from '../../src/listen/listener.ts'

const owner = ordinaryOwner()
const asOwner = process.getuid?.() === 0 ? owner : {}

/** A process that waits, in namespaces of its own or in this one's. */
async function sleeper({ apart }: { readonly apart: boolean }): Promise<number> {
  const program = ['sh', '-c', 'echo started; read -r _']
  const argv = apart
    ? [
        'bwrap',
        '--ro-bind',
        '/',
        '/',
        '--proc',
        '/proc',
        '--dev',
        '/dev',
        '--unshare-all',
        '--json-status-fd',
        '3',
        ...program,
      ]
    : program
  const [name = '', ...rest] = argv
  const child = spawn(name, rest, { ...asOwner, cwd: '/', stdio: ['pipe', 'pipe', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let status = ''
  const told = new Promise<void>((resolve) => {
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      status += String(chunk)
      if (status.includes('"child-pid"')) resolve()
    })
    if (!apart) resolve()
  })
  await Promise.all([once(child.stdout as Readable, 'data'), told])
  return apart ? Number(/"child-pid": (\d+)/.exec(status)?.[1]) : (child.pid ?? 0)
}

async function open(
  pid: number,
  more: { readonly startTime?: string; readonly sockets?: readonly SandboxSocket[] } = {},
) {
  const listener = useListener()
  const handles: Server[] = []
  onTestFinished(() => {
    for (const handle of handles) handle.close()
    listener.close()
  })
  await listener.open({
    pid,
    startTime: readProcessStat(pid)?.startTime ?? '',
    owner,
    network: '198.18.0.1/15',
    sockets: [
      { kind: 'tcp', address: '0.0.0.0', port: 80 },
      { kind: 'tcp', address: '198.18.0.7', port: 5432 },
    ],
    onSocket: (_, handle) => handles.push(handle as Server),
    ...more,
  })
  return handles
}

describeWith([component('bubblewrap'), component('perl')], 'sockets in the network of a sandbox', () => {
  it('[NW1] come from there, with ports below 1024, and this machine has none of them', async () => {
    const handles = await open(await sleeper({ apart: true }))
    expect(handles.map((handle) => handle.address())).toEqual([
      { address: '0.0.0.0', family: 'IPv4', port: 80 },
      { address: '198.18.0.7', family: 'IPv4', port: 5432 },
    ])
    expect(readFileSync('/proc/self/net/tcp', 'latin1')).not.toContain('070012C6:1538')
  })

  it('[NW1] are opened in no process of its own network', async () => {
    const opened = open(await sleeper({ apart: false }), { sockets: [{ kind: 'tcp', address: '127.0.0.1', port: 0 }] })
    await expect(opened).rejects.toMatchObject({ code: 'ENOEXEC', reason: expect.stringContaining('(own-namespace)') })
  })

  it('[NW1] are opened in no other process that has the same number', async () => {
    const pid = await sleeper({ apart: true })
    await expect(open(pid, { startTime: '1' })).rejects.toMatchObject({ reason: expect.stringContaining('(process)') })
    await expect(open(2 ** 22 + 1)).rejects.toMatchObject({ code: 'ENOEXEC' })
  })

  it('are opened one after the other, also where several are asked for at once', async () => {
    const pids = await Promise.all([1, 2, 3].map(() => sleeper({ apart: true })))
    const all = await Promise.all(pids.map((pid) => open(pid)))
    expect(all.map((handles) => handles.length)).toEqual([2, 2, 2])
  })
})
