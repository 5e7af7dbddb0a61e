import { setTimeout as delay } from 'node:timers/promises'

import type { RunningCommand, Workspace } from '@ws/core'
import { type Command, InvalidArgumentError, Option } from 'commander'

import type { Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { complainTo } from '../terminal/wrap.ts'
import { exec } from './exec.ts'
import { collect, parseEnvironment } from './options.ts'

interface PublishFlags {
  readonly hostPort?: number
  readonly cwd?: string
  readonly env?: readonly string[]
}

/** Milliseconds between looks for the server. */
const pause = 100

export function addPublish(program: Command, start: Start): void {
  program
    .command('publish')
    .summary('run a server in the workspace, and reach it from this machine')
    .description(
      'Runs a command in the workspace until it ends. Once the command listens on the port, the server gets an address on ' +
        'the loopback of this machine, printed on standard error. Every program of this machine reaches that address.',
    )
    .argument('<port>', 'on which the command listens', parsePort)
    .argument('<command...>', 'after --, so that its own options stay its own')
    .addOption(new Option('--host-port <port>', 'port of this machine (default: a free one)').argParser(parsePort))
    .option('--cwd <dir>', 'directory in the workspace (default: its root)')
    .option('--env <NAME=VALUE>', 'add a variable to the clean environment; repeatable', collect)
    .addHelpText(
      'after',
      `
Examples:
  $ ws --root . publish 5173 -- npm run dev
  $ ws --root . publish 8000 --host-port 8000 -- python3 -m http.server 8000`,
    )
    .action((port: number, command: string[], { hostPort, ...flags }: PublishFlags) => {
      parseEnvironment(flags.env ?? [])
      start((context) =>
        exec(context, command, { ...flags, login: true, stdin: false }, async (workspace, running) => {
          if (!(await listens(workspace, running, port))) {
            if (!context.signal.aborted)
              complainTo(process.stderr, `the command ended, and nothing listens on port ${port}`)
            return exitCodes.failed
          }
          const { url } = await workspace.publish(port, { hostPort })
          complainTo(process.stderr, `port ${port} of the workspace is ${url}`)
          return exitCodes.ok
        }),
      )
    })
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/u.test(text) || port < 1024 || port > 65_535)
    throw new InvalidArgumentError('Give a port from 1024 to 65535.')
  return port
}

/** Waits until a command listens on the port. @returns false when the command has ended first */
async function listens(workspace: Workspace, running: RunningCommand, port: number): Promise<boolean> {
  let isOver = false
  const end = (): void => void (isOver = true)
  running.wait().then(end, end)
  while (!(await workspace.ports()).some((one) => one.port === port)) {
    if (isOver) return false
    await delay(pause)
  }
  return true
}
