import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

import { Processes } from '@ws/sandbox'
import { component, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { useListener, type SandboxSocket } from '../src/network/listener.ts'

const isRoot = process.getuid?.() === 0
// One test takes all of a count of its user.
const owner = isRoot ? { uid: 200_000 + process.pid, gid: 200_000 } : ordinaryOwner()
const asOwner = isRoot ? owner : {}

/** Sends descriptors to itself until the kernel lets its user send no more. */
const flood = `
import array, os, socket
held, rights = [], (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 250))
try:
    while True:
        held.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        held[-1][0].setblocking(False)
        try:
            while True: held[-1][0].sendmsg([b'x'], [rights])
        except BlockingIOError: pass
except OSError as error: print(error.strerror, flush=True)
os.read(0, 1)`

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
    startTime: Processes.readProcessStat(pid)?.startTime ?? '',
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

describeWith(
  [component('bubblewrap'), component('perl'), component('python3')],
  'sockets in the network of a sandbox',
  () => {
    it('[NW1] come from there, with ports below 1024, and this machine has none of them', async () => {
      const handles = await open(await sleeper({ apart: true }))
      expect(handles.map((handle) => handle.address())).toEqual([
        { address: '0.0.0.0', family: 'IPv4', port: 80 },
        { address: '198.18.0.7', family: 'IPv4', port: 5432 },
      ])
      expect(readFileSync('/proc/self/net/tcp', 'latin1')).not.toContain('070012C6:1538')
    })

    it('[NW1] are opened in no process of its own network', async () => {
      const opened = open(await sleeper({ apart: false }), {
        sockets: [{ kind: 'tcp', address: '127.0.0.1', port: 0 }],
      })
      await expect(opened).rejects.toMatchObject({
        code: 'ENOEXEC',
        reason: expect.stringContaining('(own-namespace)'),
      })
    })

    it('[NW1] are opened in no other process that has the same number', async () => {
      const pid = await sleeper({ apart: true })
      await expect(open(pid, { startTime: '1' })).rejects.toMatchObject({
        reason: expect.stringContaining('(process)'),
      })
      await expect(open(2 ** 22 + 1)).rejects.toMatchObject({ code: 'ENOEXEC' })
    })

    it('are opened one after the other, also where several are asked for at once', async () => {
      const pids = await Promise.all([1, 2, 3].map(() => sleeper({ apart: true })))
      const all = await Promise.all(pids.map((pid) => open(pid)))
      expect(all.map((handles) => handles.length)).toEqual([2, 2, 2])
    })

    describe.runIf(isRoot)('while the descriptors on their way are all that their user may send', () => {
      const takeAll = async () => {
        const child = spawn('python3', ['-c', flood], { ...asOwner, stdio: ['pipe', 'pipe', 'inherit'] })
        onTestFinished(() => void child.kill('SIGKILL'))
        const [said] = (await once(child.stdout, 'data')) as [Buffer]
        expect(said.toString()).toMatch(/^Too many references/)
      }

      it('[HO4] come as well from root', async () => {
        await takeAll()
        expect(await open(await sleeper({ apart: true }))).toHaveLength(2)
      })

      it('[HO4] are refused with a reason to a process without the rights of root', async () => {
        await takeAll()
        const pid = await sleeper({ apart: true })
        const request = { pid, startTime: Processes.readProcessStat(pid)?.startTime, owner, network: '198.18.0.1/15' }
        const program = `
        import { useListener } from ${JSON.stringify(new URL('../src/network/listener.ts', import.meta.url).href)}
        const sockets = [{ kind: 'tcp', address: '0.0.0.0', port: 80 }]
        const opened = useListener().open({ ...${JSON.stringify(request)}, sockets, onSocket() {} })
        opened.then(() => console.log('opened'), ({ code, reason }) => console.log(code, reason)).then(() => process.exit())`
        const node = [process.execPath, '--conditions=@ws/source', '--input-type=module', '-e', program]
        const { stdout } = await promisify(execFile)('setpriv', ['--bounding-set=-sys_admin,-sys_ptrace', ...node])
        expect(stdout).toMatch(/^ENOEXEC .*as many descriptors as one user may send/)
      })
    })
  },
)
