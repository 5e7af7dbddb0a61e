import type { Machine } from '../contract.ts'
import { Pipe } from '../pipe.ts'

/** The parts of a `Sandbox` of the package `@vercel/sandbox` that are used here. */
interface VercelSandbox {
  runCommand(options: {
    cmd: string
    args?: string[]
    cwd?: string
    env?: Record<string, string>
    detached: true
  }): Promise<VercelCommand>
  writeFiles(files: { path: string; content: Uint8Array }[]): Promise<void>
}

interface VercelCommand {
  logs(): AsyncIterable<{ readonly stream: 'stdout' | 'stderr'; readonly data: string }>
  wait(): Promise<{ readonly exitCode: number }>
  kill(signal?: 'SIGKILL'): Promise<void>
}

/** Makes a machine of a sandbox of Vercel, whose programs get no input. The caller stops the sandbox. */
export function createVercelMachine(sandbox: VercelSandbox): Machine {
  return {
    name: 'vercel',
    hasInput: false,
    async start([cmd = '', ...args], { cwd, env } = {}) {
      const place = { ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env: { ...env } }) }
      const command = await sandbox.runCommand({ cmd, args, ...place, detached: true })
      const pipes = { stdout: new Pipe(), stderr: new Pipe() }
      const follow = async (): Promise<void> => {
        try {
          for await (const { stream, data } of command.logs()) await pipes[stream].listen(Buffer.from(data))
        } finally {
          pipes.stdout.end()
          pipes.stderr.end()
        }
      }
      follow().catch(() => undefined) // a lost stream ends, and `wait` says more
      return { ...pipes, kill: () => command.kill('SIGKILL'), wait: async () => (await command.wait()).exitCode }
    },
    async put(content, { path }) {
      await sandbox.writeFiles([{ path, content: Buffer.concat(await Array.fromAsync(content)) }])
    },
  }
}
