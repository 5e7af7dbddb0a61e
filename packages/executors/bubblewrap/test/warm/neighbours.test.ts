import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { component, describeWith } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { isBelow, isWarm, modes, needed, tagsOfWarm, Workbench } from '../support/workbench.ts'

const script = join(import.meta.dirname, '../support/neighbour.py')

for (const mode of modes.filter(isWarm))
  describeWith(
    [...needed[mode], component('python3')],
    `a warm command and its neighbours (${mode})`,
    { tags: tagsOfWarm(mode) },
    () => {
      let bench: Workbench
      beforeEach(async () => {
        bench = await Workbench.create(mode)
        bench.hasScratch = false
        await bench.file(bench.host('neighbour.py'))
        await copyFile(script, bench.host('neighbour.py'))
      })
      afterEach(() => bench[Symbol.asyncDispose]())

      const first = 'cat /proc/1/comm'
      const look = 'python3 neighbour.py look'

      it('leaves nothing for the next: processes, memory, queues, sockets, terminals, files, descriptors, environment', async () => {
        expect((await bench.run(first)).stdout).toBe('perl\n')
        expect(await bench.run('python3 neighbour.py leave; echo left')).toMatchObject({ stdout: 'left\n', stderr: '' })
        expect(await bench.run(look)).toMatchObject({ stdout: '[]\n', stderr: '' })
        expect((await bench.run(first)).stdout).toBe('perl\n')
      })

      it('shares its sockets alone with one that runs at the same time, and with another loopback nothing', async () => {
        for (const loopback of ['workspace', 'command'] as const) {
          await using other = await Workbench.create(mode, { loopback })
          other.hasScratch = false
          await other.file(other.host('neighbour.py'))
          await copyFile(script, other.host('neighbour.py'))
          await neighboursIn(other, loopback === 'workspace' ? '["abstract socket", "loopback"]\n' : '[]\n')
        }
      })

      async function neighboursIn(bench: Workbench, expected: string): Promise<void> {
        const input = Promise.withResolvers<void>()
        const stays = await bench.spawn('python3 neighbour.py stay', {
          stdin: (async function* () {
            await input.promise
            yield Buffer.alloc(0)
          })(),
        })
        for await (const chunk of stays.stdout) if (Buffer.from(chunk).includes('ready')) break
        expect(await bench.run(look)).toMatchObject({ stdout: expected, stderr: '' })
        input.resolve()
        expect(await stays.wait()).toMatchObject({ exitCode: 0, stderr: '' })
      }

      it('has a loopback that works', async () => {
        const serve = `import socket; s = socket.create_server(("127.0.0.1", 4343)); c = socket.create_connection(s.getsockname()); print(c.getpeername()[1])`
        expect(await bench.run(`python3 -c '${serve}'`)).toMatchObject({ stdout: '4343\n', stderr: '' })
      })

      it('can neither forge its exit status nor reach the supervisor, and writes nothing to the root', async () => {
        const written = isBelow(mode) ? [] : ['/left'] // the root is the workspace there
        const expected = { stdout: `${JSON.stringify(written)}\n`, stderr: '' }
        expect(await bench.run('python3 neighbour.py forge')).toMatchObject(expected)
        expect(await bench.run('kill -9 1; kill -9 -1; kill -9 -- -1; echo lives; exit 7')).toMatchObject({
          stdout: 'lives\n',
          exitCode: 7,
        })
        expect((await bench.run(first)).stdout).toBe('perl\n')
      })

      it('has its own count of processes', async () => {
        const options = { limits: { processes: 12 } }
        const use = 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; echo ready; read -r line; kill $(jobs -p)'
        const input = Promise.withResolvers<void>()
        const stays = await bench.spawn(use, {
          ...options,
          stdin: (async function* () {
            await input.promise
            yield Buffer.from('on\n')
          })(),
        })
        for await (const chunk of stays.stdout) if (Buffer.from(chunk).includes('ready')) break
        const second = await bench.run('for i in 1 2 3 4 5 6 7 8; do sleep 0.01 & done; wait; echo done', options)
        expect(second).toMatchObject({ stdout: 'done\n', stderr: '', exitCode: 0 })
        const beyond = await bench.run('for i in $(seq 20); do sleep 0.1 & done; wait', options)
        expect(beyond.stderr).toMatch(/fork/)
        input.resolve()
        await stays.wait()
      })

      it('finds what a command finds that starts cold: environment, limits, signals, mounts, groups, directory', async () => {
        await using cold = await Workbench.create(isBelow(mode) ? 'below' : 'direct')
        cold.hasScratch = false
        await cold.file(cold.host('neighbour.py'))
        await copyFile(script, cold.host('neighbour.py'))
        const seen = async (place: Workbench, command: string) => (await place.run(command)).stdout
        for (const command of [
          'env | sort',
          'ulimit -a; ulimit -H -a; umask',
          'grep -E "^(Uid|Gid|Groups|Sig|Cap|NoNewPrivs|Seccomp)" /proc/self/status',
          'stat -c "%n %A %u %g" /* /dev/* | grep -v /dev/pts; ls /dev/pts; echo x > /dev/pts/left',
          'cut -d " " -f 5,6 /proc/self/stat; pwd',
          'cat /proc/net/route /proc/net/if_inet6; cut -d: -f 1 /proc/net/dev',
          'hostname; cat /etc/passwd /etc/group',
          'sort -u /proc/mounts | grep -vE " /workspace | /proc | /etc "',
          'grep " /proc " /proc/mounts | tail -n 1',
          'touch /proc/sys/kernel/hostname 2>/dev/null || echo x > /proc/self/uid_map || echo refused',
        ])
          expect({ command, seen: await seen(bench, command) }).toEqual({ command, seen: await seen(cold, command) })
      })
    },
  )
