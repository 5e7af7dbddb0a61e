import { spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith, ordinaryOwner, type Owner } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { helpersOf, start } from './support/servers.ts'

const port = 47_613
const isRoot = process.getuid?.() === 0

async function openFor(owner: Owner, executor: BubblewrapExecutorOptions = {}): Promise<Workspace> {
  const scratch = await createScratchDirectory({ owner })
  onTestFinished(() => scratch.remove())
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: scratch.path, owner }) }],
    executors: [createBubblewrapExecutor(executor)],
  })
  onTestFinished(() => workspace.close())
  return workspace
}

/** Tells each connection, over TCP of both families and by an abstract socket. */
const server = [
  'import select, socket',
  `a = socket.create_server(("0.0.0.0", ${port})); b = socket.create_server(("::1", ${port}), family=socket.AF_INET6)`,
  'c = socket.socket(socket.AF_UNIX); c.bind("\\0ws-neighbour"); c.listen()',
  'print("ready", flush=True)',
  'while True:',
  '  for one in select.select([a, b, c], [], [])[0]: one.accept()[0].close(); print("arrived", flush=True)',
].join('\n')

/** Six ways, of which each is one try. The last two enter the network of another process. */
const attack = (pid: number) =>
  [
    'import ctypes, os, socket',
    'def tcp(f, to): s = socket.socket(f); s.settimeout(5); s.connect(to)',
    'def enter(pid): ',
    '  fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)',
    '  if ctypes.CDLL(None, use_errno=True).setns(fd, 0) != 0: raise OSError(ctypes.get_errno())',
    `  tcp(socket.AF_INET, ("127.0.0.1", ${port}))`,
    'ways = [',
    `  lambda: tcp(socket.AF_INET, ("127.0.0.1", ${port})), lambda: tcp(socket.AF_INET6, ("::1", ${port})),`,
    `  lambda: tcp(socket.AF_INET, ("127.9.9.9", ${port})), lambda: tcp(socket.AF_UNIX, "\\0ws-neighbour"),`,
    `  lambda: enter(${pid}), lambda: enter(1)]`,
    'for way in ways:',
    '  try: way(); print("reached")',
    '  except OSError: print("refused")',
  ].join('\n')

const refused = 'refused\n'.repeat(6)

describeWith([component('bubblewrap'), component('perl'), component('python3')], 'neighbours of a workspace', () => {
  it('[SV1] reach no server in 60 tries: other workspaces, other users, and hostile programs of this machine', async () => {
    const owner = ordinaryOwner()
    const other = isRoot ? { uid: 2001, gid: 2001 } : owner
    const workspace = await openFor(owner)
    await workspace.write('server.py', server)
    let arrived = 0
    const ready = Promise.withResolvers<void>()
    const running = await workspace.start('python3 server.py', {
      onOutput({ data }) {
        const text = Buffer.from(data).toString()
        if (text.includes('ready')) ready.resolve()
        arrived += text.split('arrived').length - 1
      },
    })
    await ready.promise
    const [holder = 0] = helpersOf(process.pid, 'Holds a network')
    const neighbours = [await openFor(owner), await openFor(other), await openFor(owner, { loopback: 'command' })]
    for (const neighbour of neighbours) {
      await neighbour.write('attack.py', attack(holder))
      for (let round = 0; round < 3; round++) expect((await neighbour.exec('python3 attack.py')).stdout).toBe(refused)
    }
    const program = ['-c', attack(holder)]
    expect(spawnSync('python3', program, isRoot ? other : {}).stdout.toString()).toBe(refused)
    expect(arrived).toBe(0)
    await workspace.write('attack.py', attack(holder))
    expect((await workspace.exec('python3 attack.py')).stdout).toMatch(/^(?:reached\n){4}(?:refused\n){2}$/u)
    while (arrived < 4) await setTimeout(10)
    running.kill('SIGKILL')
    await running.wait()
  })

  it('[SV1] of one workspace that each have a loopback reach nothing of one another', async () => {
    const workspace = await openFor(ordinaryOwner(), { loopback: 'command' })
    await workspace.write('server.py', server)
    await workspace.write('attack.py', attack(1))
    const running = await start(workspace, 'python3 server.py')
    expect((await workspace.exec('python3 attack.py')).stdout).toBe(refused)
    await running.end()
  })

  it('[SV1] that left a server hold its port: `commands()` names it, and its end frees the port', async () => {
    const workspace = await openFor(ordinaryOwner())
    await workspace.write('server.py', server)
    await start(workspace, 'python3 server.py')
    const { stderr } = await workspace.exec('python3 server.py')
    expect(stderr).toContain('Address already in use')
    expect(await workspace.ports()).toEqual([{ port }])
    const [left, ...more] = workspace.commands()
    expect([left?.command, more]).toEqual(['python3 server.py', []])
    left?.kill('SIGKILL')
    await left?.wait()
    expect(await workspace.ports()).toEqual([])
    const again = await start(workspace, 'python3 server.py')
    await again.end()
  })
})
