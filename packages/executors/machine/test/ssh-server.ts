import { execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { SshMachineOptions } from '@ws/executor-machine/ssh'
import { asOwner, ordinaryOwner } from '@ws/test-fixtures'
import { onTestFinished } from 'vitest'

/** A server of SSH for this test: on a free port of the loopback, with keys of its own, as an ordinary user. */
export async function openSshServer(): Promise<SshMachineOptions & { readonly directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'ws-ssh-'))
  const own = asOwner()
  const { uid, gid } = ordinaryOwner()
  const make = (name: string) =>
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(directory, name)])
  make('host')
  make('user')
  if (own.uid !== undefined) for (const name of ['.', 'host']) chownSync(join(directory, name), uid, gid)
  const port = await freePort()
  const hostKey = readFileSync(join(directory, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ')
  writeFileSync(join(directory, 'known'), `[127.0.0.1]:${port} ${hostKey}\n`)
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(directory, 'host')}`,
    'PidFile none',
    'UsePAM no',
  ]
  lines.push(`AuthorizedKeysFile ${join(directory, 'user.pub')}`, 'StrictModes no', 'PasswordAuthentication no')
  writeFileSync(join(directory, 'config'), `${lines.join('\n')}\n`)
  const server = spawn('/usr/sbin/sshd', ['-D', '-f', join(directory, 'config')], { stdio: 'ignore', ...own })
  onTestFinished(async () => {
    server.kill('SIGKILL')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    rmSync(directory, { recursive: true })
  })
  for (let attempt = 0; attempt < 200 && !(await answers(port)); attempt += 1) await delay(25)
  const user = execFileSync('id', ['-un', String(uid)], { encoding: 'utf8' }).trim()
  const options = [
    '-F',
    '/dev/null',
    '-o',
    `UserKnownHostsFile=${join(directory, 'known')}`,
    '-o',
    'StrictHostKeyChecking=yes',
  ]
  return { host: '127.0.0.1', user, port, identityFile: join(directory, 'user'), options, directory }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return await new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
