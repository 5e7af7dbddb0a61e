import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fail } from '../assert.ts'

/** A host directory outside every mount, open to every user. */
export interface Outside extends AsyncDisposable {
  readonly directory: string
  readonly file: string
  readonly secret: string
  content(): Promise<string>
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
    content: async () => readFile(file, 'utf8').catch(() => 'gone'), // any text but the secret shows the loss
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** A server on a path, an abstract address or a port. It counts its connections. */
export interface Listener extends AsyncDisposable {
  readonly port: number
  /** Returns the number of connections so far, including connections that wait for acceptance. */
  reached(): Promise<number>
}

export async function listen(where: string | { readonly host: string; readonly port: number }): Promise<Listener> {
  let [reached, own] = [0, 0]
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    reached += 1
    sockets.push(socket)
    socket.on('error', () => undefined) // the command may be killed meanwhile
    socket.end('hello')
  })
  if (typeof where === 'string') server.listen(where)
  else server.listen(where)
  await once(server, 'listening')
  // lets every user connect
  if (typeof where === 'string' && !where.startsWith('\0')) await chmod(where, 0o777)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    async reached() {
      own += 1
      const asking = typeof where === 'string' ? connect(where) : connect(port, where.host)
      // connections are accepted in order: an answer to this connection means that all earlier ones are counted
      await once(asking, 'data')
      asking.destroy()
      return reached - own
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A process of the same user as commands, with a secret in its environment and its command line. */
export interface Victim extends AsyncDisposable {
  readonly pid: number
  readonly secret: string
  /** Returns whether the process answers within 15 s. Node would report the end of the process late. */
  lives(): Promise<boolean>
}

export async function createVictim(owner: { readonly uid: number; readonly gid: number } | undefined): Promise<Victim> {
  const secret = randomUUID()
  const as = process.getuid?.() === 0 && owner !== undefined ? { uid: owner.uid, gid: owner.gid } : {}
  // `cat` repeats its input; the second argument only puts the secret on the command line
  const child = spawn('cat', ['-', `/${secret}`], { env: { SECRET: secret }, stdio: ['pipe', 'pipe', 'ignore'], ...as })
  // a failed write is ignored, because an ended process also ends its output
  child.stdin.on('error', () => undefined)
  await once(child, 'spawn')
  const answers = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const victim: Victim = {
    pid: child.pid ?? 0,
    secret,
    async lives() {
      child.stdin.write('x')
      const patience = new AbortController()
      const late = delay(15_000, undefined, { signal: patience.signal }).catch(() => undefined) // aborted below, once the answer has come
      const answer = await Promise.race([answers.next(), late])
      patience.abort()
      return answer?.done === false
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    },
  }
  if (!(await victim.lives())) fail('the process that commands are to leave alone did not start')
  return victim
}
