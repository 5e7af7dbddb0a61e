import { randomUUID } from 'node:crypto'

import { quoteForShell } from '@ws/core/executor'

import type { Machine } from '../contract.ts'
import { Pipe } from '../pipe.ts'

/** The parts of a `Sandbox` of the package `@daytona/sdk` that are used here. */
interface DaytonaSandbox {
  readonly process: {
    createSession(id: string): Promise<void>
    executeSessionCommand(id: string, request: { command: string; runAsync?: boolean }): Promise<{ cmdId?: string }>
    getSessionCommandLogs(
      id: string,
      commandId: string,
      onStdout: (chunk: string) => void,
      onStderr: (chunk: string) => void,
    ): Promise<void>
    getSessionCommand(id: string, commandId: string): Promise<{ exitCode?: number }>
    deleteSession(id: string): Promise<void>
  }
  readonly fs: { uploadFile(file: Buffer, path: string): Promise<void> }
}

/** Makes a machine of a sandbox of Daytona: a session for each program, without input. The caller stops the sandbox. */
export function createDaytonaMachine({ process, fs }: DaytonaSandbox): Machine {
  return {
    name: 'daytona',
    hasInput: false,
    async start(argv, { cwd, env = {} } = {}) {
      const id = randomUUID()
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
      const words = ['env', ...(cwd === undefined ? [] : ['-C', cwd]), ...variables, ...argv]
      await process.createSession(id)
      const command = words.map((word) => quoteForShell(word)).join(' ')
      const { cmdId = '' } = await process.executeSessionCommand(id, { command, runAsync: true })
      const [stdout, stderr] = [new Pipe(), new Pipe()]
      const close = async (): Promise<void> => await process.deleteSession(id)
      const follow = async (): Promise<number> => {
        try {
          const onStdout = (chunk: string) => void stdout.listen(Buffer.from(chunk))
          const onStderr = (chunk: string) => void stderr.listen(Buffer.from(chunk))
          await process.getSessionCommandLogs(id, cmdId, onStdout, onStderr)
          const { exitCode = 137 } = await process.getSessionCommand(id, cmdId)
          return exitCode
        } finally {
          stdout.end()
          stderr.end()
          await close().catch(() => undefined) // a killed session is gone
        }
      }
      const ended = follow()
      ended.catch(() => undefined) // the caller of `wait` gets the error
      return { stdout, stderr, kill: close, wait: () => ended }
    },
    put: async (content, { path }) => await fs.uploadFile(Buffer.concat(await Array.fromAsync(content)), path),
  }
}
