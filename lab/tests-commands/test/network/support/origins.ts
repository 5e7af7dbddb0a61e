import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'

import { certificate, privateKey } from '@ws/test-fixtures'

/** Servers on the loopback of this machine. Each serves all hosts: a registry, an index, a repository and an API. */
export interface Origins extends AsyncDisposable {
  readonly ports: Readonly<Record<number, number>>
  /** `HTTP version, host and path` of each request. */
  readonly seen: string[]
  /** The `authorization` of each request, where it has one. */
  readonly credentials: string[]
}

/**
 * @param directory where the files that they serve are made
 * @param prove gives the certificate of a name. Default: one that no program trusts
 */
export async function openOrigins(directory: string, prove?: (name: string) => SecureContext): Promise<Origins> {
  const files = new Map([
    ...makeRegistry(directory),
    ...makeIndex(directory),
    ...makeCrates(directory),
    ...makeModules(),
  ])
  const repository = makeRepository(directory)
  const seen: string[] = []
  const credentials: string[] = []
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const host = request.headers.host ?? String(request.headers[':authority'])
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    seen.push(`${request.httpVersion} ${host} ${path}`)
    if (request.headers.authorization !== undefined) credentials.push(request.headers.authorization)
    if (host === 'api.test') return void response.end(`hello by ${request.httpVersion}\n`)
    const found = host === 'git.test' ? readOrNot(join(repository, path)) : files.get(`${host}${path}`)
    response.statusCode = found === undefined ? 404 : 200
    if (host === 'registry.test' && !path.endsWith('.tgz')) response.setHeader('content-type', 'application/json')
    if (host === 'index.test' && path.endsWith('/')) response.setHeader('content-type', 'text/html')
    response.end(found ?? 'not found\n')
  }
  const plain = createHttpServer(answer)
  const usual = { key: privateKey, cert: certificate }
  const proof = prove === undefined ? usual : { SNICallback: (name: string, done: Proven) => done(null, prove(name)) }
  const secure = createSecureServer({ allowHTTP1: true, ...proof }, (request, response) =>
    answer(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  )
  for (const server of [plain, secure]) server.on('upgrade', echoMessages)
  const echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket))
  const sockets = new Set<Socket>()
  const servers: readonly Server[] = [plain, secure, echo]
  for (const server of servers) {
    server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
  }
  const [http = 0, tls = 0, tcp = 0] = await Promise.all(servers.map(listen))
  return {
    ports: { 80: http, 443: tls, 5432: tcp },
    ...{ seen, credentials },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

type Proven = (error: null, context: SecureContext) => void

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function readOrNot(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined // a repository is asked for files that it does not have
  }
}

/** A WebSocket that sends back each short message. */
function echoMessages({ headers }: IncomingMessage, socket: Duplex): void {
  const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${magic}`).digest('base64')
  const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket']
  socket.write(`${[...head, `Sec-WebSocket-Accept: ${accept}`].join('\r\n')}\r\n\r\n`)
  socket.on('error', () => undefined)
  socket.on('data', (frame: Buffer) => {
    if ((frame[0] ?? 0) !== 0x81) return void socket.end()
    const length = (frame[1] ?? 0) & 0x7f
    const mask = frame.subarray(2, 6)
    const text = frame.subarray(6, 6 + length).map((byte, index) => byte ^ (mask[index % 4] ?? 0))
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]))
  })
}

/** A registry of npm with one package, which has one dependency. */
function makeRegistry(directory: string): [string, string | Buffer][] {
  const names = ['greeting', 'words']
  return names.flatMap((name): [string, string | Buffer][] => {
    const dependencies = name === 'greeting' ? { words: '1.0.0' } : {}
    const content = { name, version: '1.0.0', main: 'index.js', dependencies }
    const place = join(directory, name)
    mkdirSync(join(place, 'package'), { recursive: true })
    writeFileSync(join(place, 'package/package.json'), JSON.stringify(content))
    const code = name === 'words' ? "module.exports = 'installed by npm'" : "module.exports = require('words')"
    writeFileSync(join(place, 'package/index.js'), code)
    execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: place })
    const tarball = readFileSync(join(place, 'package.tgz'))
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const dist = { tarball: `https://registry.test/${name}/-/${name}-1.0.0.tgz`, integrity }
    const versions = { '1.0.0': { ...content, dist } }
    return [
      [`registry.test/${name}`, JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions })],
      [`registry.test/${name}/-/${name}-1.0.0.tgz`, tarball],
    ]
  })
}

/** An index of Python packages with one wheel. */
function makeIndex(directory: string): [string, string | Buffer][] {
  const name = 'greeting-1.0-py3-none-any.whl'
  const info = 'greeting-1.0.dist-info'
  const script = [
    'import sys, zipfile',
    'wheel = zipfile.ZipFile(sys.argv[1], "w")',
    `wheel.writestr("greeting.py", "text = 'installed by pip'")`,
    `wheel.writestr("${info}/METADATA", "Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n")`,
    `wheel.writestr("${info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")`,
    `wheel.writestr("${info}/RECORD", "greeting.py,,\\n${info}/METADATA,,\\n${info}/WHEEL,,\\n${info}/RECORD,,\\n")`,
    'wheel.close()',
  ]
  execFileSync('python3', ['-c', script.join('\n'), join(directory, name)])
  return [
    ['index.test/simple/greeting/', `<a href="/files/${name}">${name}</a>`],
    [`index.test/files/${name}`, readFileSync(join(directory, name))],
  ]
}

/** A registry of cargo with one crate. */
function makeCrates(directory: string): [string, string | Buffer][] {
  const name = 'greeting-1.0.0'
  const place = join(directory, 'crates')
  mkdirSync(join(place, name, 'src'), { recursive: true })
  writeFileSync(join(place, name, 'Cargo.toml'), '[package]\nname = "greeting"\nversion = "1.0.0"\n')
  writeFileSync(join(place, name, 'src/lib.rs'), '// fetched by cargo\n')
  execFileSync('tar', ['-czf', 'crate', name], { cwd: place })
  const crate = readFileSync(join(place, 'crate'))
  const cksum = createHash('sha256').update(crate).digest('hex')
  const entry = { name: 'greeting', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false }
  return [
    ['crates.test/config.json', JSON.stringify({ dl: 'https://crates.test/{crate}-{version}' })],
    ['crates.test/gr/ee/greeting', `${JSON.stringify(entry)}\n`],
    [`crates.test/${name}`, crate],
  ]
}

/** A proxy of Go modules with one module, as far as it is asked for its version. */
function makeModules(): [string, string][] {
  const place = 'modules.test/example.test/greeting/@v'
  const info = JSON.stringify({ Version: 'v1.0.0', Time: '2026-01-01T00:00:00Z' })
  return [
    [`${place}/list`, 'v1.0.0\n'],
    [`${place}/v1.0.0.info`, info],
    [`${place}/v1.0.0.mod`, 'module example.test/greeting\n'],
  ]
}

/** The directory of a bare repository with one file, as git reads it from a server of files. */
function makeRepository(directory: string): string {
  const work = join(directory, 'work')
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@t.test']
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: work, stdio: 'ignore' })
  mkdirSync(work)
  git('init', '-q')
  writeFileSync(join(work, 'text'), 'cloned by git\n')
  git('add', 'text')
  git(...identity, 'commit', '-qm', 'one')
  git('clone', '-q', '--bare', '.', '../project.git')
  git('--git-dir', '../project.git', 'update-server-info')
  return directory
}
