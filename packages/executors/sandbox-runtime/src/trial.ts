import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'

import { paths } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import {
  type Bind,
  type BindPlan,
  type CommandRequest,
  getNativeCause,
  type HostPath,
  shortages,
} from '@ws/core/executor'
import { type PreparedCommand, Temporary } from '@ws/sandbox'

import { attachSandboxRuntime } from './attach.ts'
import { boundaries } from './guarantees.ts'
import type { ResolvedOptions } from './options.ts'
import type { WrappedEnd } from './start.ts'

export type Tried =
  | { readonly held: readonly (typeof boundaries)[number][] }
  | { readonly held?: undefined; readonly problem: string }

/** Prints `crossed NAME` for each boundary that does not hold. A connection that was tried and refused prints `refused NAME`. */
const attempts = (pid: number, port: number) => `
try() { "$@" 2> /dev/null; }
write() { echo x > "$1"; }
if try cat ../outside || { try ln ../outside linked && try cat linked; }; then echo crossed read; fi
if try write ../outside || try write ../planted; then echo crossed write; fi
if test -e ../outside; then echo crossed see; fi
if try kill -0 ${pid}; then echo crossed signal; fi
if try write part/file || try mv part part2; then echo crossed read-only; fi
if try cat denied/file || try write denied/new || try mv denied denied2; then echo crossed denied; fi
try perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in(${port}, inet_aton("127.0.0.1"))) ? print "crossed network\\n" : print "refused network\\n"'
try perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un("../socket")) ? print "crossed socket\\n" : print "refused socket\\n"'
cat probe
`

/** Runs a command in a temporary workspace that tries to cross each boundary. @throws a shortage; an error of the library's start */
export async function tryBoundaries(owner: Owner, platform: NodeJS.Platform, options: ResolvedOptions): Promise<Tried> {
  const directory = Temporary.createTemporaryDirectory('ws-try-')
  const servers: Server[] = []
  const driver = await attachSandboxRuntime({ root: paths.parseVirtual(directory), owner }, { platform }, options)
  try {
    const root = paths.parseVirtual(join(directory, 'ws'))
    const binds = makeFiles(directory, owner)
    servers.push(await listen(join(directory, 'socket')))
    const tcp = await listen(0)
    servers.push(tcp)
    const { port } = tcp.address() as AddressInfo
    const plan: BindPlan = { root, binds, aliases: [], restrictions: [], renameBorders: [] }
    const request: CommandRequest = { ...ofTrial, command: attempts(process.pid, port), cwd: root }
    const output: string[] = []
    const say = (chunk: Uint8Array) => void output.push(Buffer.from(chunk).toString())
    const prepared: PreparedCommand = await driver.prepare(plan, request)
    try {
      const running = await driver.start?.(prepared, { request, hasInput: false, onStdout: say, onStderr: say })
      const late = setTimeout(() => running?.end(), ofTrial.timeout)
      const end = await running?.exited
      clearTimeout(late)
      const said = output.join('')
      if (end?.shellStatus !== 0 || !said.endsWith(token)) return { problem: firstLine(said, end) }
      const isLost =
        existsSync(join(directory, 'planted')) || readFileSync(join(directory, 'outside'), 'utf8') !== token
      const held = boundaries.filter((name) => !said.includes(`crossed ${name}\n`))
      const tried = held.filter((name) => !['network', 'socket'].includes(name) || said.includes(`refused ${name}\n`))
      return { held: isLost ? tried.filter((name) => name !== 'write') : tried }
    } finally {
      await prepared.release?.()
    }
  } catch (error) {
    if (shortages.of(error) !== undefined) throw error
    const native = getNativeCause(error)
    return { problem: native instanceof Error ? native.message : String(error) }
  } finally {
    for (const server of servers) server.close()
    await driver.close?.()
    Temporary.removeTree(directory)
  }
}

const token = 'workspace\n'

const ofTrial = { env: {}, login: false, shell: '/bin/sh', timeout: 10_000, killGrace: 500, maxOutputBytes: 4096 }

/** A workspace with a read-only and a denied part, and a file beside it, all of the owner. */
function makeFiles(directory: string, owner: Owner): Bind[] {
  chmodSync(directory, 0o755)
  const at = (path: string) => join(directory, path)
  for (const name of ['ws', 'ws/part', 'ws/denied']) mkdirSync(at(name))
  const files = ['outside', 'ws/probe', 'ws/part/file', 'ws/denied/file']
  for (const name of files) writeFileSync(at(name), token)
  if (process.getuid?.() === 0)
    for (const name of ['.', 'ws', 'ws/part', 'ws/denied', ...files]) chownSync(at(name), owner.uid, owner.gid)
  const bind = (name: string, kind: Bind['kind'], access: Bind['access']): Bind => {
    const source = access === 'none' ? undefined : (at(name) as HostPath)
    return { kind, at: paths.parseVirtual(at(name)), type: 'directory', source, access, rules: [] }
  }
  return [bind('ws', 'mount', 'read-write'), bind('ws/part', 'subtree', 'read-only'), bind('ws/denied', 'mask', 'none')]
}

async function listen(where: string | number): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  if (typeof where === 'string') {
    server.listen(where)
    await once(server, 'listening')
    chmodSync(where, 0o777)
  } else {
    server.listen(where, '127.0.0.1')
    await once(server, 'listening')
  }
  return server
}

function firstLine(said: string, end: WrappedEnd | undefined): string {
  return (end?.said ?? said).split('\n')[0]?.replaceAll(/\S*\/ws-[a-z]+-\S*/g, '…') || 'its answer is wrong'
}
