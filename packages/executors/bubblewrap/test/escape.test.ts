import { createServer, type Server } from 'node:net'
import { chown, copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { component, describeWith } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import type { BubblewrapExecutorOptions } from '../src/index.ts'
import { modes, needed, tagsInEachForm, Workbench } from './support/workbench.ts'

const attackScript = join(import.meta.dirname, 'support/attack.py')

async function listening(address: string | { port: number; host: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    if (typeof address === 'string') server.listen(address, resolve)
    else server.listen(address.port, address.host, resolve)
  })
  return server
}

for (const mode of modes) {
  describeWith([...needed[mode], component('python3')], `ways out (${mode})`, { tags: tagsInEachForm(mode) }, () => {
    let bench: Workbench
    const servers: Server[] = []
    beforeEach(async () => {
      bench = await Workbench.create(mode)
    })
    afterEach(async () => {
      for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
      await bench[Symbol.asyncDispose]()
    })

    async function attack(options: BubblewrapExecutorOptions = {}): Promise<Record<string, string>> {
      await using attacked = options.network === undefined ? undefined : await Workbench.create(mode, options)
      const target = attacked ?? bench
      await target.file(target.outside('secret'), 'outside secret')
      const abstract = `ws-test-${process.pid}-${Math.random()}`
      const path = target.outside('socket')
      const tcp = await listening({ port: 0, host: '127.0.0.1' })
      servers.push(tcp, await listening(`\0${abstract}`), await listening(path))
      const address = tcp.address()
      const port = typeof address === 'object' ? address?.port : 0
      await target.file(target.host('attack.py'))
      await copyFile(attackScript, target.host('attack.py'))
      const { exitCode, stdout, stderr } = await target.run(
        `python3 attack.py ${target.outside('secret')} ${port} ${abstract} ${path} ${process.pid}`,
      )
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      return JSON.parse(stdout) as Record<string, string>
    }

    it('are closed: files, links, processes, signals, sockets, namespaces, foreign calls, setuid bits', async () => {
      expect(await attack()).toEqual({})
      expect((await bench.run('find . -perm /6000')).stdout).toBe('')
    })

    it('lead to the network and to abstract sockets alone where the host network is asked for', async () => {
      expect(Object.keys(await attack({ network: 'host' })).sort()).toEqual(['abstract socket', 'tcp'])
      expect(Object.keys(await attack({ network: 'host', unixSockets: 'none' }))).toEqual(['tcp'])
    })

    it('[RP16] a socket in the workspace is shared with the host, unless commands can make no Unix socket', async () => {
      const path = bench.host('host.sock')
      servers.push(await listening(path))
      if (process.getuid?.() === 0) await chown(path, bench.scratch.owner.uid, bench.scratch.owner.gid)
      const connect = `import socket; s = socket.socket(socket.AF_UNIX); s.connect("host.sock"); print("reached")`
      expect((await bench.run(`python3 -c '${connect}'`)).stdout).toBe('reached\n')
      await using strict = await Workbench.create(mode, { unixSockets: 'none' })
      servers.push(await listening(strict.host('host.sock')))
      if (process.getuid?.() === 0)
        await chown(strict.host('host.sock'), bench.scratch.owner.uid, bench.scratch.owner.gid)
      const refused = await strict.run(`python3 -c '${connect}'`)
      expect(refused).toMatchObject({ stdout: '', exitCode: 1 })
      expect(refused.stderr).toContain('Address family not supported')
      // Datagrams, also by one of a pair, which could send to any address.
      const send = `import socket; s, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"x", "host.sock")`
      expect((await strict.run(`python3 -c '${send}'`)).stderr).toContain('Address family not supported')
      const pair = `import socket; a, b = socket.socketpair(); a.send(b"own"); print(b.recv(3).decode())`
      expect((await strict.run(`python3 -c '${pair}'`)).stdout).toBe('own\n')
    })

    it('of every kind fail at what a policy masks', async () => {
      await bench.file(bench.host('dir/masked'), 'hush')
      const parts = [
        { kind: 'pin', at: '/dir' },
        { kind: 'mask', at: '/dir/masked', type: 'file' },
      ] as const
      const paths = ['/dir/masked', '/.ws/dir/masked', '/workspace/dir/masked'].flatMap((path) =>
        ['', '/proc/self/root', '/proc/1/root', '/proc/1/cwd/..', '/proc/self/cwd/..', '//..'].map(
          (base) => base + path,
        ),
      )
      const { stdout } = await bench.run(`cat ${paths.join(' ')} 2>/dev/null; cat dir/masked`, { parts })
      expect(stdout).toBe('')
      expect(await readFile(bench.host('dir/masked'), 'utf8')).toBe('hush')
    })
  })
}
