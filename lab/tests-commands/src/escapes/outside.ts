import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { asOwner, createScratchDirectory, type Owner, put } from '@ws/test-fixtures'

import { createSharedMemory, type SharedMemory } from './shared-memory.ts'

type Ear = 'UDP' | 'datagram to a socket with a path'

/** A file, a process and listeners on the host, of the user that runs commands. No command may reach them. */
export interface Outside extends AsyncDisposable {
  readonly scratch: string
  /** Host path of a workspace that contains only `host.sock`. */
  readonly workspace: string
  readonly owner: Owner
  readonly secret: string
  readonly token: string
  /** A process with the token in its environment, the secret's directory as working directory, and the secret as descriptor 3. */
  readonly victim: number
  readonly tcp: number
  readonly udp: number
  readonly abstract: string
  readonly stream: string
  readonly datagram: string
  readonly ipc: SharedMemory
  untouched(): Promise<boolean>
  /** The listeners that have received the token, including data that is still in transfer. */
  heard(): Promise<ReadonlySet<Ear>>
  put(path: string, content: string | Uint8Array, mode?: number): Promise<void>
}

/** Prints each datagram. For a line on its input, prints `heard` after the received datagrams. */
const listener = `
import os, select, socket, sys
ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
ear.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
print('listening', flush=True)
while True:
    ready, _, _ = select.select([ear, sys.stdin], [], [])
    while select.select([ear], [], [], 0)[0]: print(ear.recv(256).decode(), flush=True)
    if sys.stdin in ready:
        if not sys.stdin.readline(): break
        print('heard', flush=True)
`

export async function createOutside(): Promise<Outside> {
  const directory = await createScratchDirectory({ prefix: 'ws-escape-' })
  const { path: scratch, owner } = directory
  const stack = new AsyncDisposableStack()
  stack.defer(directory.remove)
  try {
    const token = `token${randomBytes(12).toString('hex')}`
    const workspace = await directory.createDirectory('workspace')
    const putFile: Outside['put'] = async (path, content, mode = 0o666) => {
      await put(path, content, scratch, owner)
      chmodSync(path, mode)
    }
    const secret = join(scratch, 'outside/secret')
    await putFile(secret, `${token}\n`)
    const fd = openSync(secret, 'r')
    const victim = spawn('/bin/sleep', ['100000'], {
      ...asOwner(owner),
      cwd: join(scratch, 'outside'),
      env: { WS_SECRET: token },
      stdio: ['ignore', 'ignore', 'ignore', fd],
    })
    closeSync(fd)
    stack.defer(() => end(victim))
    await once(victim, 'spawn')

    const listen = async (...address: [number, string] | [string]): Promise<Server> => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined)
        socket.end(token)
      })
      server.listen(...(address as [string]))
      await once(server, 'listening')
      stack.defer(() => new Promise((resolve) => void server.close(() => resolve())))
      return server
    }
    const abstract = `ws-escape-${token.slice(5, 21)}`
    const stream = join(scratch, 'outside/stream')
    const tcp = (await listen(0, '127.0.0.1')).address()
    await listen(`\0${abstract}`)
    for (const path of [stream, join(workspace, 'host.sock')]) {
      await listen(path)
      chmodSync(path, 0o777)
    }

    const heard = new Set<Ear>()
    const ear = createSocket('udp4', (message) => {
      if (message.toString() === token) heard.add('UDP')
      else ear.emit('asked')
    })
    ear.bind(0, '127.0.0.1')
    await once(ear, 'listening')
    stack.defer(() => new Promise((resolve) => void ear.close(() => resolve())))
    const datagram = join(scratch, 'outside/datagram')
    const host = spawn('/usr/bin/python3', ['-c', listener, datagram], { stdio: ['pipe', 'pipe', 'inherit'] })
    stack.defer(() => end(host))
    const lines = createInterface(host.stdout).on('line', (line) => {
      if (line === token) heard.add('datagram to a socket with a path')
    })
    await once(lines, 'line')
    // Datagrams keep their order: when the question arrives, all earlier datagrams have arrived.
    const ask = async () => {
      const asked = [once(ear, 'asked'), once(lines, 'line')]
      ear.send('heard?', ear.address().port, '127.0.0.1')
      host.stdin.write('heard?\n')
      await Promise.all(asked)
      return heard
    }
    const ipc = stack.use(await createSharedMemory(token, asOwner(owner)))
    const resources = stack.move()
    return {
      ...{ scratch, owner, secret, token, abstract, stream, datagram, ipc, heard: ask, put: putFile, workspace },
      victim: victim.pid ?? 0,
      tcp: typeof tcp === 'object' ? (tcp?.port ?? 0) : 0,
      udp: ear.address().port,
      untouched: async () => (await readFile(secret, 'utf8')) === `${token}\n`,
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}
