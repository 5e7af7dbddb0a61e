import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { WorkspaceError } from '@ws/core'
import { quoteForShell } from '@ws/core/executor'

import type { Machine, MachineProcess, MachineStart } from '../contract.ts'

export interface SshMachineOptions {
  /** The host, or its name in the configuration of ssh. */
  readonly host: string
  readonly user?: string | undefined
  readonly port?: number | undefined
  /** The host path of a private key. Default: the keys of ssh. */
  readonly identityFile?: string | undefined
  /** More arguments of ssh, such as `['-o', 'UserKnownHostsFile=…']`. */
  readonly options?: readonly string[] | undefined
}

/**
 * Makes a machine of an SSH host, over the program `ssh` of this system, with its configuration and agent. It never asks for a password.
 * @throws WorkspaceError `EINVAL` for a host or user that ssh would take for an option
 */
export function createSshMachine({ host, user, port, identityFile, options = [] }: SshMachineOptions): Machine {
  check('host', host)
  if (user !== undefined) check('user', user)
  const before = [
    ...['-T', '-o', 'BatchMode=yes', '-o', 'LogLevel=QUIET', '-o', 'ServerAliveInterval=15'],
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...(identityFile === undefined ? [] : ['-i', identityFile]),
    ...[...options, '--', host],
  ]
  async function start(argv: readonly string[], { cwd, env = {}, hasInput = false }: MachineStart = {}) {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    // the server gives one text to the user's shell, which leaves at once
    const words = ['exec', 'env', ...(cwd === undefined ? [] : ['-C', cwd]), ...variables, ...argv]
    const line = words.map((word) => quoteForShell(word)).join(' ')
    const child = spawn('ssh', [...before, line], { stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    const ended = once(child, 'close') as Promise<[number | null]>
    ended.catch(() => undefined) // the next line, and the caller of `wait`, get the error
    await once(child, 'spawn')
    const { stdin, stdout, stderr } = child
    stdin?.on('error', () => undefined) // a write reports it
    const write = (bytes: Uint8Array): Promise<void> =>
      new Promise((resolve, reject) => void stdin?.write(bytes, (error) => (error ? reject(error) : resolve())))
    const process: MachineProcess = {
      stdout: stdout ?? Readable.from([]),
      stderr: stderr ?? Readable.from([]),
      ...(stdin && { stdin: { write, end: async () => void stdin.end() } }),
      kill: async () => void child.kill('SIGKILL'),
      wait: async () => (await ended)[0] ?? 137,
    }
    return { ...process, child }
  }
  return {
    name: 'ssh',
    hasInput: true,
    start,
    async put(content, { path, signal }) {
      const { child, wait } = await start(['sh', '-c', 'cat >"$1"', 'sh', path], { hasInput: true })
      child.stdout?.resume()
      child.stderr?.resume()
      if (child.stdin) await pipeline(Readable.from(content), child.stdin, { signal })
      const status = await wait()
      if (status !== 0) throw new Error(`the file was not written (${status})`)
    },
  }
}

function check(name: string, value: string): void {
  if (/^[^-\s][^\s\0]*$/u.test(value)) return // @defence a host or user of SSH that is an option: refuses a host
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'createSshMachine',
    reason: `\`${name}\` must not be empty, begin with \`-\` or contain spaces`,
    remedy: `give the name as ssh knows it`,
  })
}
