import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { findSystemProgram } from '../../components.ts'

export interface Daemon {
  readonly pid: number
  /** Resolves to a description of the process's end. */
  readonly exited: Promise<string>
  /** Sends a signal and waits until the process is gone. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

const environment = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/nonexistent', LC_ALL: 'C.UTF-8' }

/** Starts a program that dies with this process, even by SIGKILL. Its output goes to a file. */
export async function startDaemon(
  program: string,
  args: readonly string[],
  log: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Daemon> {
  await using output = await open(log, 'a')
  const child = spawn(pathOf('setpriv'), ['--pdeathsig', 'KILL', pathOf(program), ...args], {
    cwd: '/',
    env: { ...environment, ...more },
    stdio: ['ignore', output.fd, output.fd],
    // a terminal's interrupt reaches the whole foreground group, but daemons must end in order
    detached: true,
  })
  await once(child, 'spawn')
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} has no process id`)
  child.unref()
  const exited = once(child, 'exit').then(([code, signal]) => `${program} ended with ${String(signal ?? code)}`)
  return {
    pid,
    exited,
    async kill(signal) {
      child.kill(signal)
      child.ref()
      await exited
    },
  }
}

export async function runProgram(program: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  await promisify(execFile)(pathOf(program), args, { cwd: '/', env: environment, signal, killSignal: 'SIGKILL' })
}

/** The last lines of every log, for an error message. */
export async function logTails(directory: string, lines = 15): Promise<string> {
  const names = await readdir(directory).catch(() => [])
  const tails = await Promise.all(
    names.map(async (name) => {
      const text = (await readFile(join(directory, name), 'utf8').catch(() => '')).trimEnd()
      return text === '' ? '' : `--- ${name}\n${text.split('\n').slice(-lines).join('\n')}\n`
    }),
  )
  return tails.join('')
}

function pathOf(program: string): string {
  const path = findSystemProgram(program)
  if (path === undefined) throw new Error(`${program} is not installed; npm run setup:all installs it`)
  return path
}
