import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { chmod, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { getCommandResult } from '@ws/core/executor'
import { createProotExecutor } from '@ws/executor-proot'
import { component, describeWith, itWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { asRoot, Bench, owner, put, virtual } from './support.ts'

const needed = [component('proot'), component('perl'), component('bash'), component('python3')]
const attack = await readFile(join(import.meta.dirname, 'attack.py'), 'utf8')

/** Runs the attack until it had its say; an end that comes too early for it does not count. */
async function leaveTheView(bench: Bench, secret: string): Promise<Record<string, string>> {
  await put(join(bench.workspace, 'attack.py'), attack)
  for (let round = 0; round < 40; round++) {
    // it kills proot, which is reported as an error
    await bench.run(`python3 /attack.py ${bench.workspace} ${secret}`).catch((error: unknown) => {
      if (getCommandResult(error) === undefined) throw error
    })
    if (await readFile(join(bench.workspace, 'stat'), 'utf8').catch(() => '')) break
  }
  const found: Record<string, string> = {}
  for (const name of await readdir(bench.workspace)) {
    if (name !== 'attack.py') found[name] = await readFile(join(bench.workspace, name), 'utf8')
  }
  return found
}

describeWith([...needed, component('landlock')], 'a program that has left the view, under Landlock', () => {
  it('reads, changes and lists nothing outside; existence and size it can learn, as declared', async () => {
    await using bench = await Bench.create('/', { pidNamespace: 'off' })
    expect(bench.executor.guarantees).toMatchObject({ fileContent: 'kernel', fileMetadata: 'translated' })
    const secret = await put(bench.outside('secret/file'), 'secret')
    await chmod(secret, 0o666)
    const found = await leaveTheView(bench, secret)
    expect(found).toEqual({
      read: 'Permission denied',
      write: 'Permission denied',
      list: 'Permission denied',
      stat: '6',
    })
    expect(await readFile(secret, 'utf8')).toBe('secret')
  })
})

describeWith(needed, 'a program that has left the view, without Landlock', () => {
  it('reads and changes what its uid may: `translated` says no more', async () => {
    await using bench = await Bench.create('/', { pidNamespace: 'off', landlock: 'off' })
    expect(bench.executor.guarantees.fileContent).toBe('translated')
    const secret = await put(bench.outside('secret/file'), 'secret')
    expect(await leaveTheView(bench, secret)).toMatchObject({ read: expect.stringMatching(/^secret/) })
    expect(await readFile(secret, 'utf8')).toMatch(/^secret(changed)+$/)
  })
})

describeWith([...needed, component('user-namespaces')], 'a program in a PID namespace', () => {
  it('sees no process but its own, and cannot kill proot', async () => {
    await using bench = await Bench.create('/')
    expect(bench.executor.guarantees.processes).toBe('kernel')
    expect(await bench.output('ls -d /proc/[0-9]* | wc -l')).toMatch(/^[1-9]$/)
    expect(await bench.output(`kill -0 ${process.pid} 2>&1 || true`)).toContain('No such process')
    expect(await bench.output('kill -9 1; echo alive')).toBe('alive')
  })
})

describeWith([...needed, component('landlock')], 'processes without a PID namespace, under Landlock', () => {
  it('can be neither signalled, traced nor read; that a number is in use can be learnt', async () => {
    await using bench = await Bench.create('/', { pidNamespace: 'off' })
    if (bench.executor.guarantees.processes !== 'translated') return
    await using other = await Bench.create('/', { pidNamespace: 'off' })
    // other tests start sleepers too
    const duration = `1000.${randomInt(1e9)}`
    const bystander = await other.executor.spawn(
      {
        command: `echo up; exec sleep ${duration}`,
        cwd: virtual('/'),
        env: { S: 'secret' },
        login: false,
        shell: '/bin/sh',
        killGrace: 100,
        maxOutputBytes: 100,
      },
      other.plan(),
    )
    for await (const _ of bystander.stdout) break
    const find = async (): Promise<string> => {
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
      const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')))
      return pids[lines.findIndex((line) => line === `sleep\u0000${duration}\u0000`)] ?? ''
    }
    await expect.poll(find).not.toBe('')
    const victim = await find()
    const tries = `kill -9 ${victim}; cat /proc/${victim}/environ /proc/${victim}/cmdline; ls /proc; ls -l /proc/${victim}/cwd`
    const result = await bench.run(tries)
    expect(result.stdout).not.toMatch(/secret|sleep/)
    expect(result.stderr).toContain('Operation not permitted')
    expect(result.stderr.match(/Permission denied/g)?.length).toBe(4)
    expect(await bench.output(`test -d /proc/${victim} && echo in use`)).toBe('in use')
    bystander.kill('SIGKILL')
    await bystander.wait()
  })
})

describeWith(needed, 'what is declared as not held', () => {
  it('network and sockets: TCP, and datagrams to a socket of the host by its path, arrive', async () => {
    await using bench = await Bench.create('/', { landlock: 'off', pidNamespace: 'off' })
    const { guarantees } = bench.executor
    expect(guarantees).toMatchObject({ network: 'none', sockets: 'none', subtrees: 'none', apiRules: 'none' })
    const server = createServer((socket) => socket.end('reached'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      expect(await bench.output(`exec 5<>/dev/tcp/127.0.0.1/${port}; cat <&5`)).toBe('reached')
    } finally {
      server.close()
    }
    const path = bench.outside('socket')
    const open = `import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)`
    const receive = `${open}; s.bind("${path}"); __import__("os").chmod("${path}", 0o777); print("up", flush=True); print(s.recv(9).decode())`
    const host = spawn('python3', ['-c', receive], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const lines = createInterface(host.stdout)[Symbol.asyncIterator]()
      expect((await lines.next()).value).toBe('up')
      await bench.output(`python3 -c '${open}; s.sendto(b"arrived", "${path}")'`)
      expect((await lines.next()).value).toBe('arrived')
    } finally {
      host.kill('SIGKILL')
    }
  })

  it('denied subtrees against a program that fights: renaming an ancestor uncovers one', async () => {
    await using bench = await Bench.create('/')
    expect(bench.executor.guarantees.deniedSubtrees).toBe('translated')
    await put(join(bench.workspace, 'a/private/key'), 'secret')
    const bindPlan = bench.plan([
      { kind: 'pin', at: '/a', source: join(bench.workspace, 'a') },
      { kind: 'mask', at: '/a/private', access: 'none' },
    ])
    expect((await bench.run('cat /a/private/key', {}, bindPlan)).stdout).toBe('')
    expect(await bench.output('mv /a /b; cat /b/private/key', {}, bindPlan)).toBe('secret')
  })

  it('stricter subtrees: there is no read-only bind', async () => {
    await using bench = await Bench.create('/')
    await put(join(bench.workspace, 'protected/file'), 'old')
    const source = join(bench.workspace, 'protected')
    const bindPlan = bench.plan([{ kind: 'subtree', at: '/protected', source, access: 'read-only' }])
    await bench.output('echo new > /protected/file', {}, bindPlan)
    expect(await readFile(join(source, 'file'), 'utf8')).toBe('new\n')
    expect(bench.executor.guarantees.subtrees).toBe('none')
  })
})

describe('who commands run as', () => {
  it('is never uid 0, and never another uid without root', async () => {
    const executor = createProotExecutor()
    const attach = (uid?: number) =>
      executor.attach({
        root: virtual('/'),
        owner: uid === undefined ? undefined : { uid, gid: uid },
        files: {} as never,
      })
    const refused = { code: 'ENOEXECUTOR', remedy: expect.stringMatching(/ordinary user.*owner/) }
    if (asRoot) await expect(attach()).rejects.toMatchObject(refused)
    await expect(attach(0)).rejects.toMatchObject(refused)
    expect(await executor.probe({ owner: { uid: 0, gid: 0 } })).toMatchObject({ available: false })
    if (!asRoot) await expect(attach(owner.uid + 1)).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
  })

  itWith(needed, 'cannot leave a setuid file', async () => {
    await using bench = await Bench.create('/')
    await bench.run('cp /bin/true /t; chmod 4755 /t; chmod 2755 /t; install -m 4755 /bin/true /u; mkdir -m 2755 /d')
    const modes = await bench.output('stat -c %a /t /u /d 2>/dev/null; true')
    expect(modes).not.toMatch(/^[2-7]\d{3}$/m)
  })
})

describeWith(needed, 'a link out of the workspace', () => {
  it('[PC19] stays in the view', async () => {
    await using bench = await Bench.create('/')
    const secret = await put(bench.outside('secret'), 'secret')
    await symlink(secret, join(bench.workspace, 'absolute'))
    await symlink('../secret', join(bench.workspace, 'relative'))
    await writeFile(join(bench.workspace, 'target'), 'inside')
    await symlink('/target', join(bench.workspace, 'inside'))
    const result = await bench.run('cat /absolute /relative /inside')
    expect(result.stdout).toBe('inside')
    await truncate(secret)
  })
})
