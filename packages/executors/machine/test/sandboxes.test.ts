/** @module-tag all */
import { randomUUID } from 'node:crypto'

import type { Machine, MachineProcess } from '@ws/executor-machine'
import { createDaytonaMachine, createE2bMachine, createVercelMachine } from '@ws/executor-machine'
import { describe, expect, it } from 'vitest'

import type { LocalMachine } from './local-machine.ts'
import { openSite } from './support.ts'

/** Strings, an error for a status other than 0, and input by the number of the process: as `e2b` 2.51 does. */
function likeE2b(local: LocalMachine): Machine {
  const processes = new Map<number, MachineProcess>()
  return createE2bMachine({
    commands: {
      async run(command, { stdin = false, envs = {}, cwd, onStdout, onStderr }) {
        const process = await local.start(['bash', '-l', '-c', command], { hasInput: stdin, env: envs, cwd })
        const pid = processes.size + 1
        processes.set(pid, process)
        const listened = Promise.all([tell(process.stdout, onStdout), tell(process.stderr, onStderr)])
        return {
          pid,
          async wait() {
            const [exitCode] = await Promise.all([process.wait(), listened])
            if (exitCode !== 0) throw Object.assign(new Error(`exit status ${exitCode}`), { exitCode })
            return { exitCode }
          },
          kill: async () => await process.kill(),
        }
      },
      sendStdin: async (pid, data) => await processes.get(pid)?.stdin?.write(data),
      closeStdin: async (pid) => await processes.get(pid)?.stdin?.end(),
    },
    files: { write: async (path, data) => await local.put(data.stream(), { path }) },
  })
}

/** Sessions of one command each, whose output is strings: as `@daytona/sdk` 0.218 does. */
function likeDaytona(local: LocalMachine): Machine {
  const sessions = new Map<string, { id: string; process: MachineProcess } | undefined>()
  return createDaytonaMachine({
    process: {
      createSession: async (id) => void sessions.set(id, undefined),
      async executeSessionCommand(session, { command }) {
        const id = randomUUID()
        sessions.set(session, { id, process: await local.start(['bash', '-c', command]) })
        return { cmdId: id }
      },
      async getSessionCommandLogs(session, _id, onStdout, onStderr) {
        const process = sessions.get(session)?.process
        if (process) await Promise.all([tell(process.stdout, onStdout), tell(process.stderr, onStderr)])
      },
      getSessionCommand: async (session) => ({ exitCode: (await sessions.get(session)?.process.wait()) ?? 1 }),
      deleteSession: async (session) => await sessions.get(session)?.process.kill(),
    },
    fs: {
      uploadFile: async (file, path) =>
        await local.put(
          (async function* () {
            yield file
          })(),
          { path },
        ),
    },
  })
}

/** One stream of log lines for both outputs: as `@vercel/sandbox` 3.5 does. */
function likeVercel(local: LocalMachine): Machine {
  return createVercelMachine({
    async runCommand({ cmd, args = [], cwd, env = {} }) {
      const process = await local.start([cmd, ...args], { cwd, env })
      return {
        logs: () => merge(process),
        wait: async () => ({ exitCode: await process.wait() }),
        kill: async () => await process.kill(),
      }
    },
    async writeFiles(files) {
      for (const { path, content } of files) {
        await local.put(
          (async function* () {
            yield content
          })(),
          { path },
        )
      }
    },
  })
}

async function tell(
  output: AsyncIterable<Uint8Array>,
  listen: ((data: string) => void | Promise<void>) | undefined,
): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of output) await listen?.(decoder.decode(chunk, { stream: true }))
}

async function* merge({ stdout, stderr }: MachineProcess) {
  const lines: { stream: 'stdout' | 'stderr'; data: string }[] = []
  let wake: (() => void) | undefined
  let open = 2
  const follow = async (stream: 'stdout' | 'stderr', output: AsyncIterable<Uint8Array>) => {
    await tell(output, (data) => {
      lines.push({ stream, data })
      wake?.()
    })
    open -= 1
    wake?.()
  }
  void follow('stdout', stdout)
  void follow('stderr', stderr)
  while (open > 0 || lines.length > 0) {
    const line = lines.shift()
    if (line !== undefined) yield line
    else await new Promise<void>((resolve) => (wake = resolve))
  }
}

describe.each([
  ['E2B', likeE2b],
  ['Daytona', likeDaytona],
  ['Vercel', likeVercel],
])('a sandbox of %s', (_title, wrap) => {
  it('runs commands on the files of the workspace, with bytes and odd names', async () => {
    const { workspace, root } = await openSite({
      files: { '/a': 'one\n', '/größe\n-x': 'two\n' },
      wrap: (local) => wrap(local),
    })
    const { stdout, stderr, exitCode } = await workspace.exec(
      'cat a g*; printf "\\377\\0" > bytes; mkdir -p d/e; ln -s a l; chmod +x a; echo err >&2; exit 3',
    )
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: 'one\ntwo\n', stderr: 'err\n', exitCode: 3 })
    expect(Buffer.from((await workspace.read(`${root}/bytes`)).bytes)).toEqual(Buffer.from([255, 0]))
    await workspace.write(`${root}/b`, 'b')
    const told = await workspace.exec('cat b; cat; echo $A; test -x a', { stdin: 'input', env: { A: "it's" } })
    expect(told).toMatchObject({ stdout: "binputit's\n", exitCode: 0 })
    expect(await workspace.exec('echo x > x; sleep 60', { timeout: 500 })).toMatchObject({
      timedOut: true,
      exitCode: null,
    })
    expect(await workspace.readText(`${root}/x`)).toBe('x\n')
  })
})
