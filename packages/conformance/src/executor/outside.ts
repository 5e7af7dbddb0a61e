import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory of the host, outside of every mount, which no permission protects. */
export interface Outside extends AsyncDisposable {
  readonly directory: string
  readonly file: string
  readonly secret: string
  /** The file's present content. */
  content(): Promise<string>
  /** The directory's present names. */
  names(): Promise<readonly string[]>
}

export async function createOutside(): Promise<Outside> {
  const directory = await mkdtemp(join(tmpdir(), 'ws-outside-'))
  await chmod(directory, 0o777)
  const secret = randomUUID()
  const file = join(directory, 'secret.txt')
  await writeFile(file, secret)
  await chmod(file, 0o666)
  return {
    directory,
    file,
    secret,
    names: () => readdir(directory),
    content: async () => readFile(file, 'utf8').catch(() => 'gone'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** A server on a path, on an abstract address, or on a port of this machine; counts who comes. */
export interface Listener extends AsyncDisposable {
  readonly port: number
  /** Connections so far. */
  reached(): number
}

export async function listen(where: string | { readonly host: string; readonly port: number }): Promise<Listener> {
  let reached = 0
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    reached += 1
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.end('hello')
  })
  if (typeof where === 'string') server.listen(where)
  else server.listen(where)
  await once(server, 'listening')
  // no permission protects a socket with a name
  if (typeof where === 'string' && !where.startsWith('\0')) await chmod(where, 0o777)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    reached: () => reached,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A process of the user that commands run as, with a secret in its environment and its command line. */
export interface Victim extends AsyncDisposable {
  readonly pid: number
  readonly secret: string
  lives(): boolean
}

export async function createVictim(owner: { readonly uid: number; readonly gid: number } | undefined): Promise<Victim> {
  const secret = randomUUID()
  const as = process.getuid?.() === 0 && owner !== undefined ? { uid: owner.uid, gid: owner.gid } : {}
  const shown = { env: { SECRET: secret }, argv0: `sleep-${secret}` }
  const child: ChildProcess = spawn('sleep', ['120'], { ...shown, stdio: 'ignore', ...as })
  await once(child, 'spawn')
  const lives = (): boolean => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid ?? 0,
    secret,
    lives,
    async [Symbol.asyncDispose]() {
      if (lives() && child.kill('SIGKILL')) await once(child, 'exit')
    },
  }
}
