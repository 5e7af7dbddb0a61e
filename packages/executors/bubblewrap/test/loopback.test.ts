import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import type { StartedCommand } from '@ws/core/executor'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'

import type { PreparedCommand } from '@ws/sandbox'
import { attachBubblewrap } from '../src/attach.ts'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '../src/index.ts'
import { resolveOptions } from '../src/options.ts'
import { NetworkHolder } from '../src/loopback/holder.ts'
import { enterArguments } from '../src/processes/held-network.ts'
import { eventually, processes, type Seen } from './support/processes.ts'
import { type Mode, modes, needed, tagsIn, Workbench } from './support/workbench.ts'

const script = join(import.meta.dirname, 'support/server.py')
const python = component('python3')
const all = 'hello\nhello\nhello\n'
const none = 'ConnectionRefusedError\n'.repeat(3)
const port = 4711
const ask = `python3 server.py ask ${port}`

async function openBench(mode: Mode, options: BubblewrapExecutorOptions = {}): Promise<Workbench> {
  const bench = await Workbench.create(mode, options)
  onTestFinished(() => bench[Symbol.asyncDispose]())
  await bench.file(bench.host('server.py'))
  await copyFile(script, bench.host('server.py'))
  return bench
}

/** Starts a server that ends with its input. */
async function serve(
  bench: Workbench,
): Promise<{ readonly running: StartedCommand; readonly end: () => Promise<unknown> }> {
  const input = Promise.withResolvers<void>()
  const stdin = (async function* () {
    await input.promise
    yield Buffer.alloc(0)
  })()
  const running = await bench.spawn(`python3 server.py ${port}`, { stdin })
  for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('ready')) break
  return {
    running,
    end() {
      input.resolve()
      return running.wait()
    },
  }
}

/** The processes that hold a network for this process. */
function holders(parent = process.pid): Seen[] {
  return processes().filter((seen) => seen.parent === parent && seen.arguments.includes('Holds a network namespace'))
}

async function isReachedFromHost(): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

for (const mode of modes) {
  describeWith([...needed[mode], component('perl'), python], `the loopback (${mode})`, { tags: tagsIn(mode) }, () => {
    it('[SV1] of a workspace is one: a server of one command is reached by the next, and not from the host', async () => {
      const bench = await openBench(mode)
      const server = await serve(bench)
      expect(await bench.run(ask)).toMatchObject({ stdout: all, stderr: '' })
      expect(await isReachedFromHost()).toBe(false)
      expect(await server.end()).toMatchObject({ exitCode: 0 })
      expect(await bench.run(ask)).toMatchObject({ stdout: none })
    })

    it('[SV1] of another workspace is another one, also on the same directory', async () => {
      const [bench, other] = [await openBench(mode), await openBench(mode)]
      await using sameRoot = await createBubblewrapAt(bench, mode)
      const server = await serve(bench)
      for (let i = 0; i < 10; i++)
        for (const run of [other.run(ask), sameRoot.run(ask)]) expect(await run).toMatchObject({ stdout: none })
      expect(await bench.run(ask)).toMatchObject({ stdout: all })
      await server.end()
    })

    it('[SV1] is its own for each command where that is asked for', async () => {
      const bench = await openBench(mode, { loopback: 'command' })
      const server = await serve(bench)
      expect(await bench.run(ask)).toMatchObject({ stdout: none })
      const both = `sleep 60 | python3 server.py ${port} > up & until grep -q ready up; do sleep 0.05; done; ${ask}`
      expect(await bench.run(both)).toMatchObject({ stdout: all })
      expect(holders()).toEqual([])
      await server.end()
    })

    it('[SV1] gives a command no right over it, and no descriptor of it', async () => {
      const bench = await openBench(mode)
      const look = [
        'import fcntl, os, socket, struct',
        's = socket.socket()',
        'down = struct.pack("16sH14x", b"lo", 0)',
        'try: fcntl.ioctl(s, 0x8914, down); print("down")',
        'except OSError as error: print(error.errno)',
        'held = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}")]',
        'print([one for one in held if one.startswith(("net:", "user:"))])',
        'print([line.split()[1] for line in open("/proc/self/status") if line.startswith("Cap")])',
      ]
      await bench.file(bench.host('look.py'), look.join('\n'))
      const { stdout, stderr } = await bench.run('python3 look.py')
      expect({ stdout: stdout.split('\n'), stderr }).toEqual({
        stdout: ['1', '[]', `[${Array.from({ length: 5 }, () => `'${'0'.repeat(16)}'`).join(', ')}]`, ''],
        stderr: '',
      })
    })
  })
}

/** A second workspace on the directory of a workbench. */
async function createBubblewrapAt(bench: Workbench, mode: Mode): Promise<Workbench> {
  const other = await Workbench.create(mode)
  const plan = bench.plan.bind(bench)
  return Object.assign(other, { plan })
}

describeWith([...needed.warm, component('perl'), python], 'the process that holds a loopback', () => {
  it('[SV1] is one for all commands, and ends with the workspace', async () => {
    const bench = await openBench('warm')
    await Promise.all([1, 2, 3].map(() => bench.run('true')))
    expect(holders()).toHaveLength(1)
    await bench.executor.close()
    expect(holders()).toEqual([])
  })

  it('[SV1] can be killed: the next command finds another loopback, as the result of the last shows', async () => {
    const bench = await openBench('warm')
    const server = await serve(bench)
    const [holder] = holders()
    process.kill(holder?.pid ?? 0, 'SIGKILL')
    expect(await eventually(() => holders().length === 0)).toBe(true)
    // a command that starts before this process knows of the end finds the last loopback, or is refused
    while (holders().length === 0) await bench.run('true').catch(() => undefined)
    expect(await bench.run(ask)).toMatchObject({ stdout: none })
    const again = await serve(bench)
    expect(await bench.run(ask)).toMatchObject({ stdout: all })
    await Promise.all([server.end(), again.end()])
  })

  it('[SV1] ends with a host that is killed', async () => {
    const bench = await openBench('warm')
    const order = { owner: bench.scratch.owner, root: bench.root, warm: true, plan: bench.plan(), count: 1 }
    const request = { command: 'echo ready; sleep 60', cwd: bench.root, env: {}, shell: '/bin/sh', login: false }
    const limits = { killGrace: 300, maxOutputBytes: 1000 }
    const whole = JSON.stringify({ ...order, request: { ...request, ...limits } })
    const helper = join(import.meta.dirname, 'support/start-and-wait.ts')
    const child = spawn(process.execPath, ['--conditions=@ws/source', helper, whole], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    for await (const chunk of child.stdout) if (String(chunk).includes('ready')) break
    const before = holders(child.pid)
    expect(before).toHaveLength(1)
    const inside = processes().find(({ parent }) => parent === before[0]?.pid)?.pid ?? 0
    child.kill('SIGKILL')
    const left = (): boolean => processes().some(({ pid }) => pid === before[0]?.pid || pid === inside)
    expect(await eventually(() => !left())).toBe(true)
  })
})

describeWith(
  [component('bubblewrap'), component('perl')],
  'a command never runs in the network of this machine',
  () => {
    const ends: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const end of ends.splice(0)) await end()
    })

    async function hold(): Promise<NetworkHolder> {
      const { owner, remove } = await createScratchDirectory()
      ends.push(remove)
      const guard = { starting: () => () => undefined, close: () => undefined }
      const holder = await NetworkHolder.start({ bwrap: '/usr/bin/bwrap', owner, guard })
      ends.push(() => holder.close())
      return holder
    }

    async function enter(place: NetworkHolder['place']): Promise<string> {
      const [program = '', ...rest] = enterArguments(place)
      const child = spawn(program, [...rest, '/bin/echo', 'started'], { stdio: ['ignore', 'pipe', 'pipe'] })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += String(chunk)))
      await once(child, 'close')
      return said
    }

    it('[SV1] because its network is compared with the held one before its program starts', async () => {
      const [one, other] = [(await hold()).place, (await hold()).place]
      expect(await enter(one)).toBe('started\n')
      expect(await enter({ ...one, name: other.name })).toMatch(/^shared loopback: other-namespace/)
      expect(await enter({ ...one, startTime: '1' })).toMatch(/^shared loopback: process/)
      expect(await enter({ ...one, pid: 2 ** 22 + 1 })).toMatch(/^shared loopback: namespace/)
      const own = { pid: process.pid, startTime: one.startTime, name: one.name }
      expect(await enter(own)).toMatch(/^shared loopback: process/)
    })

    it('[SV1] because a sandbox there is refused, whatever the program that makes it does', async () => {
      const bench = await openBench('below')
      // asks for the network of its caller
      const wrong = 'case $1 in --args) args=$1 fd=$2; shift 2; set -- "$args" "$fd" --share-net "$@";; esac'
      const program = bench.outside('bwrap')
      await bench.file(program, `#!/bin/sh\n${wrong}\nexec /usr/bin/bwrap "$@"\n`, 0o755)
      await chmod(bench.scratch.path, 0o755)
      const run = async (bwrap: string, more: BubblewrapExecutorOptions = {}): Promise<number | undefined> => {
        const { root, scratch } = bench
        const options = resolveOptions({ warm: false, loopback: 'command', ...more })
        const driver = attachBubblewrap({ root, owner: scratch.owner }, { bwrap }, options)
        ends.push(async () => driver.close?.())
        const request = { command: 'true', cwd: root, env: {}, shell: '/bin/sh', login: false }
        const whole = { ...request, killGrace: 300, maxOutputBytes: 1000 }
        const prepared = await driver.prepare(bench.plan(), whole)
        const listeners = { onStdout: () => undefined, onStderr: () => undefined }
        const port = await driver.start?.(prepared as PreparedCommand, {
          request: whole,
          hasInput: false,
          ...listeners,
        })
        return (await port?.exited)?.shellStatus
      }
      expect(await run('/usr/bin/bwrap')).toBe(0)
      await expect(run(program)).rejects.toMatchObject({
        code: 'ENOEXEC',
        reason: 'the sandbox is in the network of this machine, so the command was not run',
      })
    })
  },
)

describe('bad input of `loopback`', () => {
  it.each([
    [{ loopback: 'shared' }, /`loopback` must be `workspace` or `command`, got/],
    [{ loopback: true }, /`loopback` must be/],
    [
      { loopback: 'command', network: 'host' },
      /`loopback` has no meaning with `network: 'host'`.*; leave `loopback` out/,
    ],
  ])('is one sentence: %j', (options, message) => {
    expect(() => createBubblewrapExecutor(options as BubblewrapExecutorOptions)).toThrow(message)
  })
})
